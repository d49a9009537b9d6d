"""What stands between a command and our own standard streams: a pseudo-terminal where there is a terminal, else a pipe.

Where all three streams are a terminal, the command gets one of its own, which is its controlling terminal. Where only
some are (`run -- CMD | less`), it stays in our session and process group, so that the shell's job control and the real
terminal serve it as ever; its streams that are a terminal are then a pseudo-terminal that passes bytes as they are.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import termios
import threading
import time
from collections.abc import Callable

from compat.base.record import NamedTuple

STDIN, STDOUT, STDERR = 0, 1, 2
_PIECE_BYTES = 64 << 10
_FEW_BYTES = 4 << 10
_GATHER_S = 0.02  # nobody reads lines faster, and every wake-up costs some 0.1 ms
_LAST_MS = 50  # what the command wrote last to a pseudo-terminal may need a moment to come through


class Stream(NamedTuple):
    """One of our streams, and what the command gets in its place."""

    ours: int
    theirs: int  # becomes descriptor `ours` of the command
    read: int  # where we read what it writes


class Wiring(NamedTuple):
    """All of them."""

    streams: tuple[Stream, ...]
    same: tuple[tuple[int, int], ...]  # (stderr, stdout): one pipe for both, which keeps their order
    terminal: int  # the command's side of its own terminal, -1 for none


def is_open(descriptor: int) -> bool:
    """Whether a stream was open when we were started: what took its number since is not passed on."""
    try:
        return os.get_inheritable(descriptor)
    except OSError:
        return False


def is_terminal(descriptor: int) -> bool:
    """Whether a stream is open, and a terminal."""
    return is_open(descriptor) and os.isatty(descriptor)


def wire() -> Wiring:
    """Pipes and pseudo-terminals for the next command."""
    if all(map(is_terminal, (STDIN, STDOUT, STDERR))):
        master, slave = _pseudo_terminal(STDOUT, as_it_is=False)
        return Wiring((Stream(STDOUT, slave, master),), ((STDERR, STDOUT), (STDIN, STDOUT)), slave)
    streams: list[Stream] = []
    same: list[tuple[int, int]] = []
    for ours in (STDOUT, STDERR):
        if ours == STDERR and streams and is_open(STDERR) and os.path.sameopenfile(STDOUT, STDERR):
            same.append((STDERR, STDOUT))
        elif is_terminal(ours):
            master, slave = _pseudo_terminal(ours, as_it_is=True)
            streams.append(Stream(ours, slave, master))
        elif is_open(ours):
            read, write = os.pipe()
            streams.append(Stream(ours, write, read))
    return Wiring(tuple(streams), tuple(same), -1)


def _pseudo_terminal(like: int, *, as_it_is: bool) -> tuple[int, int]:
    """Set as the real one is; `as_it_is`: without its treatment of output, which the real one does."""
    master, slave = os.openpty()
    attributes = termios.tcgetattr(like)
    if as_it_is:
        attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    copy_size(like, slave)
    return master, slave


def copy_size(real: int, other: int) -> None:
    """Rows and columns of a terminal; the kernel tells those who run on it."""
    try:
        fcntl.ioctl(other, termios.TIOCSWINSZ, fcntl.ioctl(real, termios.TIOCGWINSZ, bytes(8)))
    except OSError:
        pass  # the terminal is gone


class Pump:
    """Passes one stream on, byte for byte, in a thread of its own.

    After a few bytes of a pipe it pauses, so that flushed lines are passed on together: one wake-up for all of them.
    """

    def __init__(self, stream: Stream, keep: Callable[[bytes], None]) -> None:
        self.stream, self._keep = stream, keep
        self._stopped, self._stop = os.pipe()
        self.is_at_end = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wait(self) -> None:
        """Until the end of the stream."""
        self._thread.join()

    def finish(self) -> None:
        """Pass on what was written by now, and stop: something else may hold the stream open for long."""
        os.close(self._stop)
        self._thread.join()
        os.close(self._stopped)

    def _run(self) -> None:
        pause = 0.0 if os.isatty(self.stream.read) else _GATHER_S
        poll = select.poll()
        poll.register(self.stream.read, select.POLLIN)
        poll.register(self._stopped, select.POLLIN)
        while not self.is_at_end:
            ready = {one for one, _ in poll.poll()}
            if self.stream.read not in ready:
                poll.unregister(self._stopped)
                if not poll.poll(_LAST_MS):
                    return
                poll.register(self._stopped, select.POLLIN)
            passed = pass_on(self.stream, self._keep)
            self.is_at_end = not passed
            if 0 < passed < _FEW_BYTES:
                time.sleep(pause)


def pass_on(stream: Stream, keep: Callable[[bytes], None]) -> int:
    """Read a piece and write it on: its size; 0 at the end, and where nobody reads on: then the command learns it."""
    piece = _read(stream.read)
    keep(piece)
    if piece and _written(stream.ours, piece):
        return len(piece)
    os.close(stream.read)
    return 0


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE_BYTES)
    except OSError as error:
        if error.errno == errno.EIO:  # so Linux says that nobody holds the other side of a pseudo-terminal
            return b""
        raise


def _written(descriptor: int, piece: bytes) -> bool:
    rest = memoryview(piece)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever shares the descriptor made it so
            select.select((), (descriptor,), ())
        except OSError:
            return False
    return True
