"""While the command runs: signals, stops, the size of the terminal and its keys go through; then its status."""

from __future__ import annotations

import os
import select
import signal
import termios
import threading
import tty
from collections.abc import Callable
from contextlib import suppress

from compat.base.record import NamedTuple
from doctor.commands.run.pty_streams import STDIN, STDOUT, Pump, Stream, Wiring, copy_size, wire
from doctor.commands.run.start import Order, Started, become, leave_behind, line_of, start
from doctor.host import progress

_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_KEYS_BYTES = 1024
_DESCRIPTORS = 16  # pipes and terminals for three streams, a command's state, and signals


class _Arrived(NamedTuple):
    """A signal that came."""

    number: int
    is_typed: bool  # the kernel sent it to all who share the terminal


def run(argv: tuple[str, ...], keep: Callable[[bytes], None]) -> int:
    """Run it to its end; `keep` gets all that it writes. How it ended, as `wait` says it; raises NotStarted."""
    if not _has_descriptors():
        progress.tell("too few file descriptors are free, so the command's output will not be explained")
        become(argv)
    _occupy_closed_streams()
    wiring = wire()
    handled = _handled(own_terminal=wiring.terminal >= 0)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
    signals = _Signals(handled)
    try:
        started = start(Order(argv, wiring, {int(one) for one in mask}))
        signals.start()
        pumps = [Pump(one, keep) for one in wiring.streams]
        with (
            _OwnTerminal(started, wiring, signals) if wiring.terminal >= 0 else _Shared(started, wiring, signals) as one
        ):
            for pump in pumps:  # what answers what is shown comes to a terminal that is ready for it
                pump.start()
            status = one.end()
            for pump in pumps:
                pump.finish()
        signals.stop()
        _let_go(started, pumps)
        return status
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _has_descriptors() -> bool:
    """Whether there are as many as we open before the command starts."""
    opened: list[int] = []
    try:
        while len(opened) < _DESCRIPTORS:
            opened.append(os.open(os.devnull, os.O_RDWR))
    except OSError:
        return False
    finally:
        for one in opened:
            os.close(one)
    return True


def _occupy_closed_streams() -> None:
    """What we open must not take the number of a stream that was closed when we were started."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _handled(*, own_terminal: bool) -> set[signal.Signals]:
    """Signals that we take; one that was ignored when we were started stays ignored, for the command, too."""
    wanted = {*_FORWARDED, signal.SIGWINCH, *((signal.SIGTSTP, signal.SIGCONT) if own_terminal else ())}
    return {signal.SIGCHLD, *(one for one in wanted if signal.getsignal(one) != signal.SIG_IGN)}


class _Signals:
    """Signals as bytes of a pipe, which can be waited for with other things, and who sent them."""

    def __init__(self, handled: set[signal.Signals]) -> None:
        self._handled = handled
        self._ending = False
        self.came, self._write = os.pipe()
        self._thread = threading.Thread(target=self._take, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def next(self) -> _Arrived:
        number, is_typed = os.read(self.came, 2)
        return _Arrived(number, bool(is_typed))

    def stop(self) -> None:
        """Signals keep their number from now on; the thread is gone."""
        self._ending = True
        os.kill(os.getpid(), signal.SIGCHLD)
        self._thread.join()

    def _take(self) -> None:
        while True:
            number, is_typed = _wait_for(self._handled)
            if self._ending:
                return
            os.write(self._write, bytes((number, is_typed)))


def _wait_for(handled: set[signal.Signals]) -> tuple[int, bool]:
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(handled)
        return info.si_signo, info.si_code > 0  # SI_USER and its like are 0 and less
    return int(signal.sigwait(handled)), False  # macOS


class _Shared:
    """The command is our child, in our process group: the terminal and the shell reach it by themselves."""

    def __init__(self, started: Started, wiring: Wiring, signals: _Signals) -> None:
        self.pid, self._wiring, self._signals = started.pid, wiring, signals

    def __enter__(self) -> _Shared:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to be put back."""

    def end(self) -> int:
        """Wait for it."""
        while True:
            pid, status = os.waitpid(self.pid, os.WUNTRACED | os.WNOHANG)
            if pid and not os.WIFSTOPPED(status):
                return status
            if pid:
                _stop_like(status)
                os.kill(self.pid, signal.SIGCONT)
                continue
            came = self._signals.next()
            if came.number == signal.SIGWINCH:
                for stream in self._wiring.streams:
                    copy_size(stream.ours, stream.read)
            elif came.number != signal.SIGCHLD and not came.is_typed:
                os.kill(self.pid, came.number)


class _OwnTerminal:
    """The command has a terminal of its own, of which we are the keyboard and the screen."""

    def __init__(self, started: Started, wiring: Wiring, signals: _Signals) -> None:
        self.pid, self._told, self._signals = started.pid, started.told, signals
        self._master = wiring.streams[0].read
        self._as_found = termios.tcgetattr(STDIN)
        self._is_raw = False
        self._keys = b""
        self._has_keyboard = True

    def __enter__(self) -> _OwnTerminal:
        self._take_terminal()
        return self

    def __exit__(self, *_: object) -> None:
        """The terminal is left as it was found."""
        self._give_terminal_back()

    def end(self) -> int:
        """Wait for it."""
        while True:
            status = self._next()
            if status is not None and not os.WIFSTOPPED(status):
                return status
            if status is not None:
                self._stop(status)

    def _next(self) -> int | None:
        """Do the next thing that is to be done; the command's status where it was told."""
        reads = [self._told, self._signals.came]
        if self._has_keyboard and self._is_raw and not self._keys:
            reads.append(STDIN)
        ready, writable, _ = select.select(reads, [self._master] if self._keys else [], [])
        if self._signals.came in ready:
            self._obey(self._signals.next().number)
        if STDIN in ready:
            self._read_keys()
        if writable:
            with suppress(OSError):  # its terminal is gone: its status comes next
                self._keys = self._keys[os.write(self._master, self._keys) :]
        if self._told not in ready:
            return None
        return int(line_of(self._told) or signal.SIGKILL)  # a leader that is gone was killed

    def _read_keys(self) -> None:
        try:
            self._keys = os.read(STDIN, _KEYS_BYTES)
        except OSError:
            self._keys = b""
        self._has_keyboard = bool(self._keys)

    def _obey(self, number: int) -> None:
        if number == signal.SIGWINCH:
            copy_size(STDOUT, self._master)
        elif number == signal.SIGCONT:
            self._take_terminal()  # whoever stopped us may have changed it
            copy_size(STDOUT, self._master)
        elif number != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _stop(self, status: int) -> None:
        self._give_terminal_back()
        _stop_like(status)
        with suppress(termios.error):
            self._as_found = termios.tcgetattr(STDIN)
        self._take_terminal()
        copy_size(STDOUT, self._master)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGCONT)

    def _take_terminal(self) -> None:
        """Keys and output go through as they are, while we are in the foreground."""
        if _is_foreground():
            with suppress(termios.error):
                tty.setraw(STDIN, termios.TCSANOW)
                self._is_raw = True

    def _give_terminal_back(self) -> None:
        if self._is_raw and _is_foreground():
            with suppress(termios.error):
                termios.tcsetattr(STDIN, termios.TCSADRAIN, self._as_found)
        self._is_raw = False


def _is_foreground() -> bool:
    try:
        return os.tcgetpgrp(STDIN) == os.getpgrp()
    except OSError:
        return False


def _stop_like(status: int) -> None:
    """Stop as the command did, with all who share our job where the terminal would have stopped them; then go on."""
    if os.WSTOPSIG(status) != signal.SIGTSTP:
        os.kill(os.getpid(), signal.SIGSTOP)
        return
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    os.kill(0, signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _let_go(started: Started, pumps: list[Pump]) -> None:
    """What the command left behind may still write: a process of ours passes it on, and we are free to end."""
    left = [pump.stream for pump in pumps if not pump.is_at_end]
    if left:
        leave_behind(lambda: _pass_on(left))
    if started.hold >= 0:
        os.close(started.hold)


def _pass_on(streams: list[Stream]) -> None:
    rest = [Pump(stream, _forget) for stream in streams]
    for pump in rest:
        pump.start()
    for pump in rest:
        pump.wait()


def _forget(_: bytes) -> None:
    """Nobody explains it any more."""
