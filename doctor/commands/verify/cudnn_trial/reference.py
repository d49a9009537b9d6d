"""The second opinion: convolution in float64 by NumPy, of any rank, stride, dilation and number of groups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from doctor.commands.verify.cudnn_trial.convolution import Problem

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


def convolve(direction: str, a: Array, b: Array, problem: Problem) -> Array:
    """One pass: forward(x, w) -> y, backward-data(w, dy) -> dx, backward-filter(x, dy) -> dw.

    Shapes are the problem's, N, C, spatial... whatever its layout. Each tap of the filter pairs the output with a
    shifted, strided view of the padded input; the taps are gone through one by one.
    """
    return {"forward": _forward, "backward-data": _backward_data, "backward-filter": _backward_filter}[direction](
        a.astype("float64"), b.astype("float64"), problem
    )


def _forward(x: Array, w: Array, problem: Problem) -> Array:
    import numpy as np

    padded, y = _padded(x, problem), np.zeros(problem.y)
    for tap, view in _taps(problem):
        for inputs, outputs in _groups(problem):
            y[:, outputs] += _mixed(padded[view][:, inputs], _at(w, tap)[outputs])
    return y


def _backward_data(w: Array, dy: Array, problem: Problem) -> Array:
    import numpy as np

    padded = _padded(np.zeros(problem.x), problem)
    for tap, view in _taps(problem):
        for inputs, outputs in _groups(problem):
            weights = _at(w, tap)[outputs]
            padded[view][:, inputs] += _mixed(dy[:, outputs], weights.T)
    # What of the padded input is not padding.
    spatial = (slice(pad, pad + size) for pad, size in zip(problem.padding, problem.x[2:], strict=True))
    return padded[(slice(None), slice(None), *spatial)]


def _backward_filter(x: Array, dy: Array, problem: Problem) -> Array:
    import numpy as np

    padded, dw = _padded(x, problem), np.zeros(problem.w)
    everywhere = (0, *range(2, len(problem.x)))
    for tap, view in _taps(problem):
        for inputs, outputs in _groups(problem):
            pairs = np.tensordot(dy[:, outputs], padded[view][:, inputs], axes=(everywhere, everywhere))
            _at(dw, tap)[outputs] = pairs
    return dw


def _padded(x: Array, problem: Problem) -> Array:
    import numpy as np

    return np.pad(x, ((0, 0), (0, 0), *((pad, pad) for pad in problem.padding)))


def _at(weights: Array, tap: tuple[int, ...]) -> Array:
    """A view of the K by C weights of one tap."""
    place: tuple[Any, ...] = (..., *tap)
    view: Array = weights[place]
    return view


def _taps(problem: Problem) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each place in the filter, and the view of the padded input that it meets, of the output's spatial shape."""
    for tap in product(*(range(size) for size in problem.w[2:])):
        starts = (place * dilation for place, dilation in zip(tap, problem.dilation, strict=True))
        spatial = (
            slice(start, start + (size - 1) * stride + 1, stride)
            for start, size, stride in zip(starts, problem.y[2:], problem.stride, strict=True)
        )
        yield tap, (slice(None), slice(None), *spatial)


def _groups(problem: Problem) -> Iterator[tuple[slice, slice]]:
    """The input and the output channels of each group."""
    inputs, outputs = problem.w[1], problem.w[0] // problem.groups
    for group in range(problem.groups):
        yield slice(group * inputs, (group + 1) * inputs), slice(group * outputs, (group + 1) * outputs)


def _mixed(data: Array, weights: Array) -> Array:
    """N, C, spatial... by K, C: each output channel a sum over the input channels."""
    import numpy as np

    return np.moveaxis(np.tensordot(weights, data, axes=(1, 1)), 0, 1)
