"""Subprocesses of a run: in its journal before they start, and found again where they outlive gpudoctor.

A command is known by its process id and start time. What it started itself inherits a variable, by which it is known
as long as it lives, whoever its parent is. A command that needs root has no such variable: services that a package
starts would inherit it. Sources: proc(5), proc_pid_stat(5), proc_pid_environ(5).
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping

from compat.base.record import NamedTuple
from installers.journal import Journal, JournalError

_MARK = "GPUDOCTOR_RUN"  # the variable: the directory of the run's journal
_BOOT = "/proc/sys/kernel/random/boot_id"
_DYING_S, _POLL_S = 1.0, 0.05  # the kernel takes a moment to end a process


class AtWork(JournalError):
    """A command of a run is still running: what is put back now, it may change again."""

    def __init__(self, journal: Journal, pids: tuple[int, ...]) -> None:
        lines = ", ".join(f"`{_line(pid)}` (process {pid})" for pid in pids[:3])
        verb = "is" if len(pids) == 1 else "are"
        super().__init__(f"run {journal.id} cannot be undone yet: {lines} {verb} still running")
        sudo = "" if all(map(_is_own, pids)) else "sudo "
        kill = f"{sudo}kill {' '.join(map(str, pids))}"
        self.hint = f"Wait until it ends, or end it with `{kill}`. Then run `gpudoctor install rollback`."


def _nothing() -> None:
    """Do nothing."""


class Watch(NamedTuple):
    """What is done for a command before it starts and while it runs."""

    mark: str = ""  # value of the variable, "" for none
    before: Callable[[], None] = _nothing  # called in the subprocess, on POSIX
    beat: Callable[[], None] = _nothing  # called every few seconds

    def environ(self, environ: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """Return the variables of the command, given those that it would have; None for all of this process."""
        return {**(os.environ if environ is None else environ), _MARK: self.mark} if self.mark else environ


UNWATCHED = Watch()


def watch(journal: Journal, number: int, *, needs_root: bool, beat: Callable[[], None] = _nothing) -> Watch:
    """Return the watch over a command of a run."""

    def record() -> None:
        """Write down this process, which is about to become the command."""
        pid = os.getpid()
        journal.append({"what": "started", "number": number, "pid": pid, "start": _start(pid), "boot": _boot()})

    return Watch("" if needs_root else journal.directory, record, beat)


def require_ended(journal: Journal) -> None:
    """Raise AtWork while a command of the run, or what it started, is running."""
    until = time.monotonic() + _DYING_S
    while pids := _running(journal):
        if time.monotonic() > until:
            raise AtWork(journal, pids)
        time.sleep(_POLL_S)


def _running(journal: Journal) -> tuple[int, ...]:
    """Return the process ids."""
    started = (one for one in journal.records() if one["what"] == "started")
    recorded = (one["pid"] for one in started if _is_running(one["pid"], one["start"], one["boot"]))
    return tuple(dict.fromkeys((*recorded, *marked(journal.directory))))


def _is_running(pid: int, start: str, boot: str) -> bool:
    """Tell whether the very process is running: process ids are used again."""
    if os.name != "posix" or boot != _boot():
        return False
    found = _start(pid)
    return found == start if found else _exists(pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _start(pid: int) -> str:
    """Return its start time in clock ticks since boot, "-" where it ended; "" where /proc does not show it."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()  # from the third on: the second, its name, may hold blanks
    except OSError:
        return ""
    return "-" if fields[0] in "ZX" else fields[19]


def _boot() -> str:
    try:
        with open(_BOOT, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def marked(mark: str) -> Iterator[int]:
    """Yield the processes with this value of the variable; other users' processes cannot be read."""
    wanted = os.fsencode(f"{_MARK}={mark}")
    for name in os.listdir("/proc") if mark and os.path.isdir("/proc/self") else ():
        if name.isdecimal() and wanted in _read(f"/proc/{name}/environ").split(b"\0"):
            yield int(name)


def _line(pid: int) -> str:
    words = _read(f"/proc/{pid}/cmdline").rstrip(b"\0").split(b"\0")
    return shlex.join(map(os.fsdecode, words)) if any(words) else "a command"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _is_own(pid: int) -> bool:
    try:
        return os.geteuid() in {0, os.stat(f"/proc/{pid}").st_uid}
    except OSError:
        return True
