"""The float64 reference, against a plain loop, against what a gradient is, and against PyTorch."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from doctor.smoke.convolution import DIRECTIONS, OPERANDS, Problem
from doctor.smoke.numbers import whole_numbers
from doctor.smoke.reference import convolve

Array = npt.NDArray[Any]


def problem(x: tuple[int, ...], w: tuple[int, ...], *spatial: tuple[int, ...], groups: int = 1) -> Problem:
    return Problem("fp64", x, w, *spatial, groups=groups)  # type: ignore[misc, arg-type]


PROBLEMS = [
    problem((2, 3, 7), (4, 3, 3), (1,), (1,), (1,)),
    problem((1, 2, 9), (3, 2, 4), (0,), (3,), (2,)),
    problem((2, 3, 5, 6), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1)),
    problem((2, 3, 6, 5), (4, 3, 3, 2), (0, 2), (2, 1), (1, 2)),  # no axis is like the other
    problem((1, 4, 5, 5), (6, 2, 3, 3), (1, 1), (1, 1), (1, 1), groups=2),
    problem((2, 4, 6, 6), (4, 1, 3, 3), (2, 2), (2, 2), (2, 2), groups=4),
    problem((1, 2, 1, 1), (2, 2, 1, 1), (0, 0), (1, 1), (1, 1)),
    problem((1, 1, 2, 2), (1, 1, 4, 4), (1, 1), (1, 1), (1, 1)),  # more padding than data
    problem((1, 2, 4, 3, 5), (4, 1, 2, 3, 3), (0, 1, 2), (1, 2, 3), (2, 1, 1), groups=2),
]
LABELS = [f"{one.dims}D {one.label}" for one in PROBLEMS]


def values(one: Problem) -> dict[str, Array]:
    return {name: whole_numbers(getattr(one, name), 5, seed) for seed, name in enumerate("xwy")}


def looped(direction: str, one: Problem) -> Array:
    """Element by element, from the definition: y[n, k, o] = sum of x[n, c, o * stride + tap * dilation - padding] w."""
    given = values(one)
    out = np.zeros(getattr(one, OPERANDS[direction][2]))
    per_group = one.w[0] // one.groups
    for n, k, c in product(range(one.x[0]), range(one.w[0]), range(one.w[1])):
        channel = k // per_group * one.w[1] + c
        for place in product(*map(range, one.y[2:])):
            for tap in product(*map(range, one.w[2:])):
                at = [
                    o * s + t * d - p
                    for o, s, t, d, p in zip(place, one.stride, tap, one.dilation, one.padding, strict=True)
                ]
                if any(not 0 <= i < size for i, size in zip(at, one.x[2:], strict=True)):
                    continue
                x, w, y = (n, channel, *at), (k, c, *tap), (n, k, *place)
                if direction == "forward":
                    out[y] += given["x"][x] * given["w"][w]
                elif direction == "backward-data":
                    out[x] += given["w"][w] * given["y"][y]
                else:
                    out[w] += given["x"][x] * given["y"][y]
    return out


def computed(direction: str, one: Problem) -> Array:
    first, second, _ = OPERANDS[direction]
    return convolve(direction, values(one)[first], values(one)[second], one)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("one", PROBLEMS, ids=LABELS)
def test_against_a_plain_loop(one: Problem, direction: str) -> None:
    expected = looped(direction, one)
    assert np.array_equal(computed(direction, one), expected)
    assert expected.any()


@pytest.mark.parametrize("one", PROBLEMS, ids=LABELS)
def test_the_gradients_are_the_adjoints_of_the_forward_pass(one: Problem) -> None:
    """<conv(x, w), dy> = <x, dx> = <w, dw>: convolution is linear in x and in w."""
    given = values(one)
    ahead = float((computed("forward", one) * given["y"]).sum())
    assert ahead == float((computed("backward-data", one) * given["x"]).sum())
    assert ahead == float((computed("backward-filter", one) * given["w"]).sum())


def test_any_storage_type_is_computed_in_float64() -> None:
    one = PROBLEMS[2]
    x, w = (values(one)[name].astype("float16") for name in "xw")
    answer = convolve("forward", x, w, one)
    assert answer.dtype == "float64"
    assert np.array_equal(answer, computed("forward", one))


@pytest.mark.slow
@pytest.mark.parametrize("one", PROBLEMS, ids=LABELS)
def test_against_torch(one: Problem) -> None:
    torch = pytest.importorskip("torch")
    x, w = (torch.tensor(values(one)[name], requires_grad=True) for name in "xw")
    convolution = (torch.conv1d, torch.conv2d, torch.conv3d)[one.dims - 1]
    y = convolution(x, w, None, one.stride, one.padding, one.dilation, one.groups)
    y.backward(torch.tensor(values(one)["y"]))
    for direction, theirs in zip(DIRECTIONS, (y, x.grad, w.grad), strict=True):
        assert np.array_equal(computed(direction, one), theirs.detach().numpy())
