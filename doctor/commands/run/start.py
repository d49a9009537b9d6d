"""Start the command: by fork, so that all that it inherits is what we inherited."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import termios
from collections.abc import Callable
from typing import NoReturn

from compat.base.process import with_parent
from compat.base.record import NamedTuple
from doctor.commands.run.pty_streams import STDERR, STDIN, STDOUT, Wiring
from doctor.commands.run.refused import NOT_RUNNABLE, NotStarted

# Python ignores these itself; a command that we start must not (subprocess does the same by restore_signals).
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class Order(NamedTuple):
    """What is to be started, and how."""

    argv: tuple[str, ...]
    wiring: Wiring
    mask: set[int]  # signals that are blocked for it, as they were for us


class Started(NamedTuple):
    """A running command."""

    pid: int
    told: int  # where its leader tells how it fares, -1 where it is our own child
    hold: int  # closing this lets the leader end, -1 for none


def start(order: Order) -> Started:
    """The command, running; raises NotStarted."""
    own = order.wiring.terminal >= 0
    failed, fail = os.pipe()
    told, tell = os.pipe()
    held, hold = os.pipe()
    bind = None if own else with_parent()  # one with its own terminal gets SIGHUP when we are gone
    pid = os.fork()
    if pid == 0:
        for mine in (failed, told, hold):
            os.close(mine)
        if bind:
            bind()
        _lead(order, fail, tell, held) if own else _become(order, fail)
    for theirs in (fail, tell, held, *(one.theirs for one in order.wiring.streams)):
        os.close(theirs)
    said = os.read(failed, 16)
    os.close(failed)
    if said or not own:
        os.close(told)
        os.close(hold)
    if said:
        os.waitpid(pid, 0)
        raise NotStarted(order.argv[0], int(said))
    return Started(int(line_of(told)), told, hold) if own else Started(pid, -1, -1)


def become(argv: tuple[str, ...]) -> NoReturn:
    """Replace this process by the command, which takes our streams; raises NotStarted."""
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        _execute(argv)
    except OSError as error:
        raise NotStarted(argv[0], error.errno or errno.EINVAL) from error
    except ValueError as error:  # a NUL byte, or no name at all
        raise NotStarted(argv[0], errno.EINVAL if argv[0] else errno.ENOENT) from error
    raise AssertionError  # exec does not return


def leave_behind(work: Callable[[], None]) -> None:
    """Do some work in a process of ours that may outlive us."""
    if os.fork() == 0:
        try:
            work()
        finally:
            os._exit(0)


def line_of(descriptor: int) -> bytes:
    """The next line of a pipe, b"" at its end; no byte more is taken."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(descriptor, 1)
        if not byte:
            break
        line += byte
    return line


def _become(order: Order, fail: int) -> NoReturn:
    """In the child: take the streams and execute the command; its error goes to `fail`, which an exec closes."""
    try:
        for stream in order.wiring.streams:
            os.dup2(stream.theirs, stream.ours)
        for ours, other in order.wiring.same:
            os.dup2(other, ours)
        for number in _IGNORED_BY_PYTHON:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, order.mask)
        _execute(order.argv)
    except OSError as error:
        os.write(fail, str(error.errno).encode())
    except ValueError:  # a NUL byte, or no name at all
        os.write(fail, str(errno.EINVAL if order.argv[0] else errno.ENOENT).encode())
    finally:
        os._exit(NOT_RUNNABLE)


def _execute(argv: tuple[str, ...]) -> None:
    """As shells and POSIX' execvp do it: a script that does not name its interpreter is one for sh."""
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - that is what was asked for
    except OSError as error:
        path = shutil.which(argv[0])
        if error.errno != errno.ENOEXEC or path is None or _is_binary(path):
            raise
        os.execv("/bin/sh", ("sh", path, *argv[1:]))  # noqa: S606


def _is_binary(path: str) -> bool:
    """By a NUL in its beginning, as bash tells it."""
    with open(path, "rb") as file:
        return b"\0" in file.read(80)


def _lead(order: Order, fail: int, tell: int, held: int) -> NoReturn:
    """In the child: lead the session of the command's own terminal, and tell how the command fares.

    A leader of its own, because the kernel stops no process group that has no parent in its session. It ends when
    `held` is closed, so that what the command left behind keeps its terminal until then. Signals are blocked in it.
    """
    try:
        terminal = order.wiring.terminal
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        gate, open_gate = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(open_gate)
            os.setpgid(0, 0)
            os.read(gate, 1)  # until it has the terminal
            _become(order, fail)
        os.close(fail)
        os.setpgid(pid, pid)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(terminal, pid)
        os.close(open_gate)
        os.write(tell, f"{pid}\n".encode())
        for descriptor in (terminal, STDIN, STDOUT, STDERR):
            os.close(descriptor)
        _follow(pid, tell)
        os.read(held, 1)
    finally:
        os._exit(0)


def _follow(pid: int, tell: int) -> None:
    """Tell every status of the command, as `wait` has it, to its end."""
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        os.write(tell, f"{status}\n".encode())
        if not os.WIFSTOPPED(status):
            return
