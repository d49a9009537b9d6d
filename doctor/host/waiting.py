"""Who is told what takes long while a machine is looked at: nobody, until a command line asks for it."""

from __future__ import annotations

from collections.abc import Callable


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
