"""Times as people type them."""

from __future__ import annotations

import re
import time

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


_AGO = re.compile(r"(\d{1,5}) ?(minute|min|hour|h|day|d|week|w|month)s?(?: ago)?")
_AGO_S = {"min": 60, "hour": 3600, "h": 3600, "day": _DAY_S, "d": _DAY_S, "week": 7 * _DAY_S, "w": 7 * _DAY_S}
_AGO_S |= {"minute": 60, "month": 30 * _DAY_S}
_DATES = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")


def moment(text: str, option: str, now_s: float) -> float:
    """Return the seconds since the epoch of "3 days", "2 hours ago", "2026-11-20 06:50"; raises BadDuration.

    A time is local, or of the zone that ends it: "2026-11-20T06:50Z", "2026-11-20 06:50+02:00".
    """
    text = text.strip()
    ago = _AGO.fullmatch(text.casefold())
    if ago:
        return now_s - int(ago[1]) * _AGO_S[ago[2]]
    from contextlib import suppress  # late, as what follows: few commands take a time
    from datetime import datetime

    for form in _DATES:
        try:
            return time.mktime(time.strptime(text, form))
        except (ValueError, OverflowError):
            pass
        with suppress(ValueError, OverflowError):
            return datetime.strptime(text, f"{form}%z").timestamp()
    raise BadDuration(f'{option} {text!r}: a time such as "3 days", "2 hours" or 2026-11-20')
