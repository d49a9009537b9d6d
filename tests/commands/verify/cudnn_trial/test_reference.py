"""The float64 reference, against a plain loop, against what a gradient is, and against JAX."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS, OPERANDS, Problem
from doctor.commands.verify.cudnn_trial.numbers import whole_numbers
from doctor.commands.verify.cudnn_trial.reference import convolve
from tests.wheels import JAX_WHEELS, fetch, unpack

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


# Another one's convolutions, in a process of their own: whole problems in, the three answers out.
JAX = """
import sys, json
import jax
import numpy as np
jax.config.update("jax_enable_x64", True)
answers = []
for one in json.load(sys.stdin):
    pads = [(p, p) for p in one["padding"]]
    def forward(x, w):
        how = dict(rhs_dilation=one["dilation"], feature_group_count=one["groups"])
        return jax.lax.conv_general_dilated(x, w, one["stride"], pads, **how)
    x, w, dy = (jax.numpy.array(one[name], "float64") for name in "xwy")
    y, backward = jax.vjp(forward, x, w)
    answers.append([np.asarray(found).tolist() for found in (y, *backward(dy))])
print(json.dumps(answers))
"""


@pytest.mark.slow
def test_against_jax(tmp_path: Path) -> None:
    for requirement in JAX_WHEELS:
        unpack(fetch(requirement, python=f"{sys.version_info.major}.{sys.version_info.minor}"), tmp_path)
    asked = [
        {name: value.tolist() for name, value in values(one).items()}
        | {name: getattr(one, name) for name in ("padding", "stride", "dilation", "groups")}
        for one in PROBLEMS
    ]
    ran = subprocess.run(
        [sys.executable, "-c", JAX],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "JAX_PLATFORMS": "cpu"},
    )
    for one, theirs in zip(PROBLEMS, json.loads(ran.stdout), strict=True):
        for direction, answer in zip(DIRECTIONS, theirs, strict=True):
            assert np.array_equal(computed(direction, one), np.array(answer)), f"{one.label} {direction}"
