"""The journal of an installation: what is about to change is on the disk before it changes.

One directory per run, `<state>/journal/<id>/`, with `journal.jsonl` (one record a line) and `backup/` (what was
replaced). A run ends with "commit", or with "undone"; a journal without either belongs to a run that was killed.

Each record carries a checksum over itself and the checksum before it, so that a line that was changed, lost or moved
is seen. A damaged journal is named and left alone; it stands in no other run's way.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from typing import Any

from compat.base.errors import GpudoctorError
from compat.base.mounts import reachable
from compat.base.private_dirs import NotOurs, own_directory
from compat.base.record import NamedTuple
from compat.base.user_dirs import own_dir
from installers.errors import written
from installers.file_identity import Stamp, sync
from installers.steps.command import Command, Inverse

Record = dict[str, Any]
_SUM = "sum"  # the checksum of a record, in it
_KINDS = frozenset(
    {
        *("begin", "commit", "undo", "undone"),  # of the run
        *("change", "own", "command", "started", "ended", "reversed", "scratch", "times"),  # what it does
    }
)


class JournalError(GpudoctorError):
    """The record of an earlier run cannot be used."""

    hint = "See `gpudoctor install history`."


class DamagedJournal(JournalError):
    """The record of one run was changed: nothing can be taken back by it."""

    hint = "Other runs are not affected. The replaced files are in its folder `backup`."

    def __init__(self, journal: Journal, why: str) -> None:
        super().__init__(f"the record of run {journal.id} is damaged: {why} ({journal.directory})")
        self.why = why


class Busy(JournalError):
    """Another run is changing the machine."""

    hint = "Wait until it ends."


class ForeignState(JournalError):
    """Another user could change the records, and with them what is run to take a run back."""

    hint = "Set GPUDOCTOR_STATE to a directory that only you can change."


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
    state: str  # "done", "undone", "killed": to be undone by the next run, "damaged": nobody can tell
    paths: tuple[str, ...]  # what it changed
    commands: tuple[Ran, ...] = ()  # what it ran
    kept: tuple[tuple[str, str], ...] = ()  # left as somebody changed them: path, and where its original lies or ""


class Journal:
    """One run's records."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.id = os.path.basename(directory)
        self.backup = os.path.join(directory, "backup")
        self._path = os.path.join(directory, "journal.jsonl")

    def append(self, *records: Record) -> None:
        """Write records and wait until they are on the disk; raises OSError."""
        with written(self._path), open(self._path, "ab+") as file:
            _drop_torn_line(file.fileno())
            file.seek(0)
            last = _checksum_of(file.read().split(b"\n")[-2:-1])
            lines = []
            for record in records:
                last = _checksum(record, last)
                lines.append(f"{json.dumps({**record, _SUM: last})}\n")
            file.write("".join(lines).encode())
            file.flush()
            os.fsync(file.fileno())

    @property
    def log(self) -> str:
        """The file for a person that tells what this run did, and when."""
        return os.path.join(self.directory, "log.txt")

    def tell(self, text: str) -> None:
        """Add a line to the log; a disk without room stops nobody."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with contextlib.suppress(OSError), open(self.log, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(f"{when}  {line}\n" for line in text.splitlines())

    def records(self) -> tuple[Record, ...]:
        """All whole records; a last line that was cut off never took effect. Raises DamagedJournal."""
        try:
            with open(self._path, "rb") as file:
                lines = file.read().split(b"\n")[:-1]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise DamagedJournal(self, f"it cannot be read: {error.strerror}") from error
        return tuple(self._whole(lines))

    def _whole(self, lines: list[bytes]) -> Iterator[Record]:
        last = ""
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                found = record.pop(_SUM, None)
                last = _checksum(record, last)
                kind = str(record["what"])
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise DamagedJournal(self, f"line {number} is not a record") from error
            if found is not None and found != last:
                raise DamagedJournal(self, f"line {number} was changed")
            if found is None:  # of a release that wrote no checksums
                last = ""
            if kind not in _KINDS:
                raise DamagedJournal(self, f"line {number} has an unknown kind")
            yield record

    def state(self) -> str:
        """ "done", "undone", "killed"."""
        last = {"begin": "killed", "commit": "done", "undo": "killed", "undone": "undone"}
        return next((last[one["what"]] for one in reversed(self.records()) if one["what"] in last), "undone")

    def kept(self) -> tuple[tuple[str, str], ...]:
        """Paths that were left as somebody changed them, and where their originals lie, "" for none."""
        last = next((one for one in reversed(self.records()) if one["what"] == "undone"), {})
        there = ((path, os.path.join(self.backup, name) if name else "") for path, name in last.get("kept", ()))
        return tuple(pair for pair in there if not pair[1] or os.path.lexists(pair[1]))

    def changes(self) -> tuple[Change, ...]:
        """In the order in which they were made."""
        with self._fields():
            return tuple(change_of(one) for one in self.records() if one["what"] == "change")

    def commands(self) -> tuple[Ran, ...]:
        """In the order in which they were run."""
        found: dict[int, Ran] = {}
        with self._fields():
            for one in self.records():
                if one["what"] == "command":
                    found[one["number"]] = _command(one)
                elif one["what"] in {"ended", "reversed"}:
                    ran = found[one["number"]]
                    found[one["number"]] = (
                        ran._replace(ended=True) if one["what"] == "ended" else ran._replace(reversed=True)
                    )
        return tuple(found.values())

    @contextlib.contextmanager
    def _fields(self) -> Iterator[None]:
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedJournal(self, f"a record is incomplete ({error})") from error

    def entry(self) -> Entry:
        """This run as a line of the history."""
        try:
            first = next(iter(self.records()), {})
            return self._entry(first)
        except DamagedJournal as error:
            return Entry(id=self.id, summary=f"damaged: {error.why}", when="", state="damaged", paths=())

    def _entry(self, first: Record) -> Entry:
        paths = tuple(dict.fromkeys(change.path for change in self.changes() if change.kind != "mkdir"))
        return Entry(
            id=self.id,
            summary=first.get("summary", ""),
            when=first.get("when", ""),
            state=self.state(),
            paths=paths,
            commands=self.commands(),
            kept=self.kept(),
        )


class State:
    """The directory that keeps journals, backups and downloads; "" is the user's own, see `state_directory`."""

    def __init__(self, directory: str = "") -> None:
        self.directory = os.path.abspath(directory or state_directory())

    def path(self, *names: str) -> str:
        """A path below the directory."""
        return os.path.join(self.directory, *names)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the machine for one run; raises Busy, ForeignState, OSError.

        What takes commands back is read from here: nobody else may be able to write it.
        """
        try:
            own_directory(self.directory)
            own_directory(self.path("journal"))
        except NotOurs as error:
            raise ForeignState(f"{self.directory} cannot store the data for an undo: {error}") from error
        with open(self.path("lock"), "a+b") as file:
            try:
                _lock(file.fileno())
            except (BlockingIOError, PermissionError) as error:
                raise Busy("another `gpudoctor install` is running") from error
            yield  # the system lets go of the lock when the file is closed, however the process ends

    def journals(self) -> tuple[Journal, ...]:
        """Of all runs, the oldest first."""
        with contextlib.suppress(FileNotFoundError):
            names = sorted(os.listdir(self.path("journal")), key=_order)
            return tuple(Journal(self.path("journal", name)) for name in names)
        return ()

    def begin(self, summary: str) -> Journal:
        """A new journal, whose ID comes after all others also where the clock was set back."""
        stem = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        last = max((_order(journal.id) for journal in self.journals()), default=("", 0))
        stem, number = max((stem, 0), (last[0], last[1] + 1))
        journal = Journal(self.path("journal", f"{stem}-{number:02}"))
        os.makedirs(journal.backup, mode=0o700)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        journal.append({"what": "begin", "summary": summary, "when": when})
        for directory in (journal.directory, self.path("journal"), self.directory):
            sync(directory)
        return journal


def state_directory() -> str:
    """GPUDOCTOR_STATE, else the user's directory for state."""
    return reachable(os.environ.get("GPUDOCTOR_STATE", "")) or own_dir("state")


def history(state: State) -> tuple[Entry, ...]:
    """All runs, the newest first."""
    entries = (journal.entry() for journal in reversed(state.journals()))
    return tuple(entry for entry in entries if entry.when or entry.summary or entry.paths)


def whole(state: State) -> tuple[Journal, ...]:
    """The journals that can be read, the oldest first."""
    return tuple(journal for journal in state.journals() if journal.entry().state != "damaged")


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


def _order(name: str) -> tuple[str, int]:
    """ "20261122-101500-7" comes before "-10", and both after every other name."""
    stem, _, number = name.rpartition("-")
    return (stem, int(number)) if number.isdecimal() and number.isascii() else ("", 0)


def _checksum(record: Record, last: str) -> str:
    """Over a record and the checksum before it."""
    text = json.dumps(record, sort_keys=True)
    return hashlib.sha256(f"{last}\n{text}".encode()).hexdigest()[:16]


def _checksum_of(lines: list[bytes]) -> str:
    """That of the last line, "" where it has none."""
    try:
        return str(json.loads(lines[0]).get(_SUM, "")) if lines else ""
    except (ValueError, AttributeError, RecursionError):
        return ""


def _command(record: Record) -> Ran:
    inverse = record["inverse"]
    if inverse is not None:
        commands = tuple(map(tuple, inverse["commands"]))
        inverse = Inverse(commands, inverse["left"], inverse["afterwards"])
    return Ran(record["number"], tuple(record["argv"]), record["needs_root"], inverse, ended=False)


def change_of(record: Record) -> Change:
    """A record as a change."""
    before = None if record["before"] is None else Stamp(*record["before"])
    return Change(
        kind=record["kind"],
        path=record["path"],
        before=before,
        after=Stamp(*record["after"]),
        backup=record["backup"],
        aside=record["aside"],
    )


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
