"""Who is told what takes long while a machine is read: nobody, until a command line asks for it."""

from __future__ import annotations

from collections.abc import Callable

# Without the persistence daemon the driver wakes every card each time, which takes some seconds on a server with eight.
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


def _unseen(text: str, done_bytes: int, total_bytes: int) -> None:
    """Nobody looks."""


_viewer: Callable[[str, int, int], None] = _unseen


def show(text: str, done_bytes: int = 0, total_bytes: int = 0) -> None:
    """Show what is under way, and how far it is; "" when it ended."""
    _viewer(text, done_bytes, total_bytes)


def watch(viewer: Callable[[str, int, int], None]) -> None:
    """Let this one show what is under way."""
    global _viewer  # noqa: PLW0603 - as above
    _viewer = viewer
