"""Children that say what they do, in lines of JSON in a file, listened to while they work and killed in time.

A child may die in any line, and a damaged library may write over what was said: a line that is no JSON object is told
as None, and nothing behind it is told at all.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from compat.base.record import NamedTuple
from doctor.host import NotRunnable
from doctor.host.child import Child

_LOOK_S = 0.05
_EVENTS_AT_MOST_BYTES = 16 << 20  # a whole trial writes less than one
Event = dict[str, Any]
Hear = Callable[[Event | None], None]


class Program(NamedTuple):
    """What is started, and how long it may take."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    events: str  # path of the file that it writes to; made here
    timeout_s: float
    silence_s: float = math.inf  # without a word
    stderr_bytes: int = 4096  # of its last words
    file: str | None = None  # what is executed, where that is not argv[0]


class Ended(NamedTuple):
    """How a child ended."""

    kind: str  # "exited", "signal", "timed-out" (and was killed), "not-started"
    code: int  # exit status, or number of the signal
    stderr: str  # its last words; why it could not be started
    seconds: float


def watch(program: Program, hear: Hear) -> Ended:
    """One child, to its end; raises OSError where there is no room for its file."""
    (ended,) = watch_all(((program, hear),))
    return ended


def watch_all(children: Sequence[tuple[Program, Hear]]) -> tuple[Ended, ...]:
    """Children that work at the same time, all of which are killed before a KeyboardInterrupt goes on."""
    with ExitStack() as stack:
        watched = [_Watched(program, hear, stack) for program, hear in children]
        while waiting := [one for one in watched if one.ended is None]:
            for one in waiting:
                one.look(_LOOK_S / len(waiting))
        return tuple(one.ended for one in watched if one.ended)


class _Watched:
    """One of them."""

    def __init__(self, program: Program, hear: Hear, stack: ExitStack) -> None:
        self.ended: Ended | None = None
        self._program = program
        self._hear: Hear | None = hear
        self._begun = self._heard = time.monotonic()
        self._read_bytes = 0
        self._rest = b""
        with open(program.events, "wb"):
            pass
        self._events = stack.enter_context(open(program.events, "rb"))  # noqa: SIM115 - the stack closes it
        try:
            self._child = Child(program.argv, program.environ, program.file, is_long=True)
            stack.enter_context(self._child)
        except NotRunnable as refused:
            self.ended = Ended("not-started", 0, refused.why, 0.0)

    def look(self, wait_s: float) -> None:
        """Wait so long for its end, hear what it said, and kill it where it takes too long or says too much."""
        status = self._child.wait(wait_s)
        self._listen()
        if status is not None:
            self._end("signal" if status < 0 else "exited", abs(status))
        elif self._is_late(time.monotonic()) or self._read_bytes > _EVENTS_AT_MOST_BYTES:
            self._child.kill()
            self._listen()
            self._end("timed-out", 0)

    def _is_late(self, now: float) -> bool:
        return now - self._heard > self._program.silence_s or now - self._begun > self._program.timeout_s

    def _end(self, kind: str, code: int) -> None:
        words = self._child.last_words(self._program.stderr_bytes)
        self.ended = Ended(kind, code, words, time.monotonic() - self._begun)

    def _listen(self) -> None:
        self._events.seek(self._read_bytes)  # a C library for Windows reads no further once it met the end
        new = self._events.read(max(_EVENTS_AT_MOST_BYTES + 1 - self._read_bytes, 0))
        if not new:
            return
        self._heard = time.monotonic()
        self._read_bytes += len(new)
        whole, end, rest = (self._rest + new).rpartition(b"\n")
        self._rest = rest
        for event in events_of(whole + end):
            if self._hear:
                self._hear(event)
            if event is None:
                self._hear = None


def events_of(written: bytes) -> Iterator[Event | None]:
    """Every whole line; what was being written at the end is left out."""
    for line in written.split(b"\n")[:-1]:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        yield event if isinstance(event, dict) else None
