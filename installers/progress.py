"""How a long step tells what it is doing."""

from __future__ import annotations

from collections.abc import Callable

from compat.base.record import NamedTuple


class Progress(NamedTuple):
    """Where a step stands."""

    what: str  # "download", "verify", "extract", "copy"
    name: str  # of the file concerned
    done_bytes: int  # of that file, also while it is unpacked: of the archive, not of what comes out of it
    total_bytes: int | None


Report = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Report to nobody."""
