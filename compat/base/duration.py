"""Times as people type them."""

from __future__ import annotations

from compat.base.errors import GpudoctorError

_UNITS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0}
_DAY_S = 86_400


class BadDuration(GpudoctorError):
    """A text is not a time."""


def seconds(text: str, option: str) -> float:
    """Return the seconds of "5s", "500ms", "2m" or "5"; raises BadDuration."""
    number = text.strip().rstrip("ms")
    unit = text.strip()[len(number) :]
    try:
        found = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        found = -1.0
    if not 0 <= found < _DAY_S:
        raise BadDuration(f"{option} {text!r}: a time such as 5s, 500ms or 2m")
    return found
