"""What of a file that was made elsewhere could not be read."""

from __future__ import annotations

from compat.record import NamedTuple


class Unread(NamedTuple):
    """The file, or one within an archive."""

    label: str
    why: str  # what is wrong with it, and how much was read all the same
