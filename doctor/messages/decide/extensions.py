"""Compiled parts beside a framework: built for another one, for another CUDA, or without it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.signature import Means


def warp(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Warp prints the CUDA of both, and calls its own age the driver's where the driver dropped an entry point."""
    toolkit, driver = (tuple(map(int, found[name].split("."))) for name in ("toolkit", "driver"))
    if driver > toolkit and clues.has(r"Failed to get driver entry point|not supported in the installed CUDA driver"):
        says = f"the driver supports CUDA {found['driver']}, but this Warp needs functions of older drivers"
        yield Means("framework-bug", says, 0.7)
