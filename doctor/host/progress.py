"""Who is told what takes long while a machine is looked at: nobody, until a command line asks for it."""

from __future__ import annotations

from collections.abc import Callable

# Without the persistence daemon the driver wakes every card anew, which takes some seconds on a server with eight.
DRIVER_TIMEOUT_S = 15.0
SLOW_S = 2.0  # after which a person wants to know what is waited for


def _nobody(text: str) -> None:
    """Nobody waits."""


_listener: Callable[[str], None] = _nobody


def tell(text: str) -> None:
    """Say what is waited for, in one line."""
    _listener(text)


def listen(listener: Callable[[str], None]) -> None:
    """From now on, this one is told."""
    global _listener  # noqa: PLW0603 - one process has one standard error
    _listener = listener
