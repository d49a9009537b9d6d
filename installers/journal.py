"""The journal of an installation: what is about to change is on the disk before it changes.

One directory per run, `<state>/journal/<id>/`, with `journal.jsonl` (one record a line) and `backup/` (what was
replaced). A run ends with "commit", or with "undone"; a journal without either belongs to a run that was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from typing import Any

from compat.error import GpudoctorError
from compat.record import NamedTuple
from installers.plan import Command, Inverse
from installers.stamp import Stamp, sync

Record = dict[str, Any]


class JournalError(GpudoctorError):
    """The record of an earlier run cannot be used."""

    hint = "See `gpudoctor install history`."


class Busy(JournalError):
    """Another run is changing the machine."""

    hint = "Wait until it ends."


class Change(NamedTuple):
    """One change of the file system, and how to take it back."""

    kind: str  # "put" (a file or link takes the path's place), "mkdir", "mode"
    path: str
    before: Stamp | None  # None: nothing lay there
    after: Stamp
    backup: str = ""  # name in `backup/` of what was replaced
    aside: str = ""  # until the run ends: another name of it in its own file system, where putting back takes no space


class Ran(NamedTuple):
    """A command of a run; what it did is in no backup, and only its inverse can take it back."""

    number: int
    argv: tuple[str, ...]
    needs_root: bool
    inverse: Inverse | None
    ended: bool  # False: it failed, or the run was killed while it was at work
    reversed: bool = False  # its inverse was run


class Entry(NamedTuple):
    """One run of the history."""

    id: str
    summary: str
    when: str  # UTC, ISO 8601
    state: str  # "done", "undone", "killed": to be undone by the next run
    paths: tuple[str, ...]  # what it changed
    commands: tuple[Ran, ...] = ()  # what it ran


class Journal:
    """One run's records."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.id = os.path.basename(directory)
        self.backup = os.path.join(directory, "backup")
        self._path = os.path.join(directory, "journal.jsonl")

    def append(self, *records: Record) -> None:
        """Write records and wait until they are on the disk; raises OSError."""
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        with open(self._path, "ab+") as file:
            _drop_torn_line(file.fileno())
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())

    def records(self) -> tuple[Record, ...]:
        """All whole records; a last line that was cut off never took effect."""
        try:
            with open(self._path, "rb") as file:
                lines = file.read().split(b"\n")[:-1]
            return tuple(json.loads(line) for line in lines)
        except FileNotFoundError:
            return ()
        except ValueError as error:
            raise JournalError(f"{self._path} is damaged ({error})") from error

    def state(self) -> str:
        """ "done", "undone", "killed"."""
        last = {"begin": "killed", "commit": "done", "undo": "killed", "undone": "undone"}
        return next((last[one["what"]] for one in reversed(self.records()) if one["what"] in last), "undone")

    def changes(self) -> tuple[Change, ...]:
        """In the order in which they were made."""
        return tuple(_change(one) for one in self.records() if one["what"] == "change")

    def commands(self) -> tuple[Ran, ...]:
        """In the order in which they were run."""
        found: dict[int, Ran] = {}
        for one in self.records():
            if one["what"] == "command":
                found[one["number"]] = _command(one)
            elif one["what"] == "ended":
                found[one["number"]] = found[one["number"]]._replace(ended=True)
            elif one["what"] == "reversed":
                found[one["number"]] = found[one["number"]]._replace(reversed=True)
        return tuple(found.values())

    def entry(self) -> Entry:
        """This run as a line of the history."""
        first = next(iter(self.records()), {})
        paths = tuple(dict.fromkeys(change.path for change in self.changes() if change.kind != "mkdir"))
        return Entry(self.id, first.get("summary", ""), first.get("when", ""), self.state(), paths, self.commands())


class State:
    """The directory that keeps journals, backups and downloads; "" is the user's own, see `state_directory`."""

    def __init__(self, directory: str = "") -> None:
        self.directory = os.path.abspath(directory or state_directory())

    def path(self, *names: str) -> str:
        """A path below the directory."""
        return os.path.join(self.directory, *names)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the machine for one run; raises Busy, OSError."""
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        with open(self.path("lock"), "a+b") as file:
            try:
                _lock(file.fileno())
            except (BlockingIOError, PermissionError) as error:
                raise Busy("another `gpudoctor install` is at work") from error
            yield  # the system lets go of the lock when the file is closed, however the process ends

    def journals(self) -> tuple[Journal, ...]:
        """Of all runs, the oldest first."""
        with contextlib.suppress(FileNotFoundError):
            return tuple(Journal(self.path("journal", name)) for name in sorted(os.listdir(self.path("journal"))))
        return ()

    def begin(self, summary: str) -> Journal:
        """A new journal."""
        stem = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        taken = {journal.id for journal in self.journals()}
        name = next(one for one in (f"{stem}-{number:02}" for number in range(10_000)) if one not in taken)
        journal = Journal(self.path("journal", name))
        os.makedirs(journal.backup, mode=0o700)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        journal.append({"what": "begin", "summary": summary, "when": when})
        for directory in (journal.directory, self.path("journal"), self.directory):
            sync(directory)
        return journal


def state_directory() -> str:
    """GPUDOCTOR_STATE, else the user's directory for state."""
    from platformdirs import user_state_path  # late: only installations need it

    return os.environ.get("GPUDOCTOR_STATE") or str(user_state_path("gpudoctor", appauthor=False))


def history(state: State) -> tuple[Entry, ...]:
    """All runs, the newest first."""
    return tuple(journal.entry() for journal in reversed(state.journals()) if journal.records())


def record_of(change: Change) -> Record:
    """A change as a record."""
    return {"what": "change", **change._asdict()}


def record_of_command(number: int, command: Command) -> Record:
    """A command as a record, written before it is run."""
    inverse = command.inverse and command.inverse._asdict()
    return {
        "what": "command",
        "number": number,
        "argv": command.argv,
        "needs_root": command.needs_root,
        "inverse": inverse,
    }


def _command(record: Record) -> Ran:
    inverse = record["inverse"]
    if inverse is not None:
        commands = tuple(map(tuple, inverse["commands"]))
        inverse = Inverse(commands, inverse["left"], inverse["afterwards"])
    return Ran(record["number"], tuple(record["argv"]), record["needs_root"], inverse, ended=False)


def _change(record: Record) -> Change:
    before = None if record["before"] is None else Stamp(*record["before"])
    return Change(record["kind"], record["path"], before, Stamp(*record["after"]), record["backup"], record["aside"])


def _drop_torn_line(descriptor: int) -> None:
    """Cut off what a killed run wrote without its line's end."""
    size_bytes = os.lseek(descriptor, 0, os.SEEK_END)
    os.lseek(descriptor, 0, os.SEEK_SET)
    whole_bytes = size_bytes and os.read(descriptor, size_bytes).rfind(b"\n") + 1
    if whole_bytes != size_bytes:
        os.ftruncate(descriptor, whole_bytes)


def _lock(descriptor: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
