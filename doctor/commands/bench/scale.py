"""Axes: seconds to a place on the drawing, and the ticks; logarithmic where the values differ too much to be seen."""

from __future__ import annotations

import math

from compat.base.record import NamedTuple

_LOGARITHMIC_FROM = 8.0  # greatest value over least: below it, bars from zero all show
_STEPS = (1, 2, 5)


class Scale(NamedTuple):
    """Values from `low` to `high` over the drawing's `left` to `right`."""

    low: float
    high: float
    left: float
    right: float
    is_logarithmic: bool
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value lies; what lies outside is put on the edge."""
        value = min(max(value, self.low), self.high)
        if self.is_logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.left + share * (self.right - self.left)


def scale_for(values: list[float], left: float, right: float) -> Scale:
    """The scale on which all these positive values lie; of none, one from 0 to 1."""
    values = [one for one in values if one > 0 and math.isfinite(one)] or [1.0]
    if max(values) / min(values) < _LOGARITHMIC_FROM:
        high = max(values)
        step = next(one for one in _steps_around(high / 6, high) if one * 6 >= high)
        linear = [step * number for number in range(math.ceil(high / step) + 1)]
        return Scale(low=0.0, high=linear[-1], left=left, right=right, is_logarithmic=False, ticks=tuple(linear))
    ticks = _steps_around(min(values) / 1.2, max(values))
    decades = math.log10(ticks[-1] / ticks[0])
    shown = ticks if decades <= 2.5 else [one for one in ticks if _is_power_of_ten(one)]
    return Scale(low=ticks[0], high=ticks[-1], left=left, right=right, is_logarithmic=True, ticks=tuple(shown))


def _steps_around(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... from at most `low` to at least `high`, and no further."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = [step * 10.0**power for power in range(first, last + 1) for step in _STEPS]
    start = max(number for number, one in enumerate(every) if one <= low)
    end = min(number for number, one in enumerate(every) if one >= high)
    return every[start : end + 1]


def _is_power_of_ten(value: float) -> bool:
    return math.isclose(math.log10(value), round(math.log10(value)), abs_tol=1e-9)
