"""A convolution that is small enough to be computed in plain Python, exactly: what frameworks are held against.

Small whole numbers: every product and sum is one that fp32, TF32, fp16 and bf16 hold exactly, so that only algorithms
that transform the numbers (Winograd, FFT) may come out a little beside them.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from compat.base.record import NamedTuple

Nested = list[Any]  # of lists ... of numbers, in N, C, H, W order
BATCH, CHANNELS, FILTERS, SIZE, KERNEL, PADDING = 2, 3, 4, 8, 3, 1


class SmallProblem(NamedTuple):
    """The numbers that go in, and what must come out, as nested lists."""

    x: Nested  # (2, 3, 8, 8)
    w: Nested  # (4, 3, 3, 3)
    dy: Nested  # (2, 4, 8, 8)
    padding: int
    expected: dict[str, Nested]  # by direction: (2, 4, 8, 8), (2, 3, 8, 8), (4, 3, 3, 3)


def small_problem() -> SmallProblem:
    """The same numbers in every run: without a random generator, whose sequence could change."""
    x = _filled((BATCH, CHANNELS, SIZE, SIZE), 5, 2)
    w = _filled((FILTERS, CHANNELS, KERNEL, KERNEL), 3, 1)
    dy = _filled((BATCH, FILTERS, SIZE, SIZE), 3, 1)
    y, dx, dw = (_filled(shape, 1, 0) for shape in (_shape(dy), _shape(x), _shape(w)))
    for place in product(range(BATCH), range(FILTERS), range(SIZE), range(SIZE)):
        _at(place, (x, w, dy), (y, dx, dw))
    return SmallProblem(
        x=x, w=w, dy=dy, padding=PADDING, expected={"forward": y, "backward-data": dx, "backward-filter": dw}
    )


def _at(place: tuple[int, ...], given: tuple[Nested, ...], out: tuple[Nested, ...]) -> None:
    """One element of the output: its sum, and what its gradient adds to those of x and w."""
    n, k, i, j = place
    x, w, dy = given
    y, dx, dw = out
    for c, r, s in product(range(CHANNELS), range(KERNEL), range(KERNEL)):
        h, v = i + r - PADDING, j + s - PADDING
        if 0 <= h < SIZE and 0 <= v < SIZE:
            y[n][k][i][j] += x[n][c][h][v] * w[k][c][r][s]
            dx[n][c][h][v] += dy[n][k][i][j] * w[k][c][r][s]
            dw[k][c][r][s] += dy[n][k][i][j] * x[n][c][h][v]


def _filled(shape: tuple[int, ...], values: int, below: int) -> Nested:
    """Whole numbers from -below on, `values` of them, scattered by a linear congruential sequence."""
    state = 12345 + values

    def fill(left: tuple[int, ...]) -> Nested:
        nonlocal state
        row: Nested = []
        for _ in range(left[0]):
            if len(left) > 1:
                row.append(fill(left[1:]))
                continue
            state = (1103515245 * state + 12345) % (1 << 31)  # the constants of C's specification of rand()
            row.append((state >> 16) % values - below)
        return row

    return fill(shape)


def _shape(nested: Any) -> tuple[int, ...]:
    found = []
    while isinstance(nested, list) and nested:
        found.append(len(nested))
        nested = nested[0]
    return tuple(found)


def difference(found: object, expected: Nested) -> float:
    """Greatest absolute difference over the greatest expected value; infinite for another shape or no number."""
    return _worst(found, expected) / max(1.0, _greatest(expected))


def _worst(found: object, expected: Any) -> float:
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return math.inf
        return max(_worst(one, other) for one, other in zip(found, expected, strict=True))
    if not isinstance(found, (int, float)) or math.isnan(found):
        return math.inf
    return abs(found - float(expected))


def _greatest(expected: Any) -> float:
    return max(map(_greatest, expected)) if isinstance(expected, list) else abs(expected)
