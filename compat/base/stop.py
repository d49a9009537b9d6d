"""Signals that ask a process to end, and subprocesses that end with it.

Sources: signal(7), prctl(2) (PR_SET_PDEATHSIG), Python's `subprocess`, which has neither.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

_NUMBERS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_PDEATHSIG = 1  # PR_SET_PDEATHSIG, linux/prctl.h
_received: list[int] = []


def handle_signals() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does; what is ignored (nohup) stays ignored."""
    for number in _NUMBERS:
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _interrupt)


def exit_status() -> int:
    """Return what a shell reports of a process that a signal ended (143 for SIGTERM); 0 where no signal came."""
    return 128 + _received[0] if _received else 0


def _interrupt(number: int, _: FrameType | None) -> None:
    """Raise KeyboardInterrupt; only Ctrl-C a second time: `timeout` sends its signal twice, and undoing must go on."""
    _received.append(number)
    if len(_received) == 1 or number == signal.SIGINT:
        raise KeyboardInterrupt


@contextlib.contextmanager
def delayed_signals() -> Iterator[None]:
    """Deliver signals at the end of the block: a `Popen` that is interrupted has started what nobody can end."""
    came: list[int] = []
    replaced = [one for one in _NUMBERS if signal.getsignal(one) not in {signal.SIG_IGN, None}]
    try:
        before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in replaced}
    except ValueError:  # this is not the main thread, and signals are delivered only there
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def with_parent() -> Callable[[], None] | None:
    """Return a `preexec_fn` by which the kernel kills the subprocess when this thread ends; None where it cannot."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # late: most subprocesses are short
    except ImportError:  # Python was built without it
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def bind() -> None:
        prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(1)

    return bind
