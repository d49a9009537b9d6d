"""The small convolution, beside an independent way to compute it, and what counts as different."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from doctor.commands.verify.problem import PADDING, difference, small_problem


def correlated(x: Any, w: Any) -> Any:
    """Cross-correlation by windows and one einsum."""
    padded = np.pad(x, ((0, 0), (0, 0), (PADDING, PADDING), (PADDING, PADDING)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwrs,kcrs->nkhw", windows, w)


def test_the_expected_numbers_are_those_of_another_way() -> None:
    problem = small_problem()
    x, w, dy = (np.array(one, dtype=float) for one in (problem.x, problem.w, problem.dy))
    assert correlated(x, w).tolist() == problem.expected["forward"]
    # <dy, conv(x, w)> is linear in x and in w: its gradients are what the backward passes compute
    assert np.vdot(dy, correlated(x, w)) == np.vdot(x, np.array(problem.expected["backward-data"]))
    assert np.vdot(dy, correlated(x, w)) == np.vdot(w, np.array(problem.expected["backward-filter"]))
    flipped = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    assert correlated(dy, flipped).tolist() == problem.expected["backward-data"]


def test_every_number_is_one_that_bf16_holds() -> None:
    problem = small_problem()
    for expected in problem.expected.values():
        assert 0 < np.abs(np.array(expected)).max() <= 256
    assert all(len(np.unique(np.array(one))) >= 3 for one in (problem.x, problem.w, problem.dy))


@pytest.mark.parametrize(
    ("found", "worst"),
    [
        ([[1.0, 2.0]], 0.0),
        ([[1.0, 3.0]], 0.5),
        ([[1.0, float("nan")]], float("inf")),
        ([[1.0, float("inf")]], float("inf")),
        ([[1.0]], float("inf")),
        ([[1.0, "2"]], float("inf")),
        ([[1.0, None]], float("inf")),
        ([], float("inf")),
        ([[]], float("inf")),
        ([[1.0, [2.0]]], float("inf")),
        (None, float("inf")),
    ],
)
def test_what_is_different(found: object, worst: float) -> None:
    assert difference(found, [[1, 2]]) == worst
