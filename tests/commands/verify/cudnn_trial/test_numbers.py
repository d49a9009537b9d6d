"""The data that convolve exactly; the tolerances, wide enough for transforms, narrow enough to show a wrong answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, DIRECTIONS, Problem
from doctor.commands.verify.cudnn_trial.numbers import (
    DTYPES,
    compare,
    from_storage,
    greatest_sum,
    operands,
    to_storage,
    tolerance,
)
from doctor.commands.verify.cudnn_trial.reference import convolve
from doctor.commands.verify.cudnn_trial.stages.convolving import problem_of, problems

Array = npt.NDArray[Any]
EVERY = list(problems(9))
LABELS = [f"{one.dtype} {one.dims}D {one.label}" for one in EVERY]
MANTISSA_BITS = {"fp64": 53, "fp32": 24, "tf32": 11, "fp16": 11, "bf16": 8}


@pytest.mark.parametrize("one", EVERY, ids=LABELS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_partial_sum_is_exact_in_the_dtype(one: Problem, direction: str) -> None:
    first, second = operands(direction, one)
    expected = convolve(direction, first, second, one)
    assert greatest_sum(direction, first, second, one) <= 2 ** MANTISSA_BITS[one.dtype]
    for array in (first, second, expected):
        assert np.array_equal(from_storage(to_storage(array, one.dtype), one.dtype), array)
        assert np.array_equal(array, np.rint(array))
    assert np.count_nonzero(expected) > expected.size / 2  # thinning did not leave nothing to convolve
    assert np.abs(expected).max() >= 5


@pytest.mark.parametrize("one", EVERY, ids=LABELS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_wrong_answer_is_further_off_than_any_tolerance(one: Problem, direction: str) -> None:
    first, second = operands(direction, one)
    expected = convolve(direction, first, second, one)
    filters, out = (first, second) if direction == "backward-data" else (second, first)
    wrong = {
        "one tap is left out": _without_a_tap(direction, filters, out, one),
        "all is shifted by one": np.roll(expected, 1, axis=-1),
        "two channels are swapped": np.concatenate([expected[:, 1:], expected[:, :1]], axis=1),
        "half of it is missing": expected / 2,
        "nothing was written": np.full_like(expected, np.nan),
        "all is zero": np.zeros_like(expected),
    }
    for what, answer in wrong.items():
        assert compare(answer, expected).difference > DTYPES[one.dtype].tolerance, what


def _without_a_tap(direction: str, filters: Array, other: Array, one: Problem) -> Array:
    """Of the backward filter pass: one image is left out."""
    if direction == "backward-filter":
        rest = filters.copy()
        rest[0] = 0
        return convolve(direction, other, rest, one)
    rest = filters.copy()
    rest[..., 0] = 0
    inputs = (rest, other) if direction == "backward-data" else (other, rest)
    return convolve(direction, *inputs, one)


@pytest.mark.parametrize(
    ("algorithm", "is_exact"),
    [(name, not name.startswith(("WINOGRAD", "FFT"))) for names in ALGORITHMS.values() for name in names],
)
def test_only_transforms_are_given_a_tolerance(algorithm: str, is_exact: bool) -> None:
    assert all((tolerance(one, algorithm) == 0.0) == is_exact for one in EVERY)


@pytest.mark.parametrize("one", EVERY, ids=LABELS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_cudnns_winograd_of_5x5_is_less_exact_and_a_wrong_one_shows(one: Problem, direction: str) -> None:
    """On an H100 cuDNN 9.19.0 was off by 0.0023 of the greatest value at most, in single precision and below."""
    allowed = tolerance(one, "WINOGRAD_NONFUSED")
    assert (allowed > DTYPES[one.dtype].tolerance) == (one.label == "5x5" and one.dtype in {"fp64", "fp32"})
    if one.label == "5x5" and one.dtype != "fp64":
        assert allowed > 4 * 0.0023
    first, second = operands(direction, one)
    expected = convolve(direction, first, second, one)
    filters, out = (first, second) if direction == "backward-data" else (second, first)
    assert compare(_without_a_tap(direction, filters, out, one), expected).difference > allowed


def rounded(dtype: str) -> Callable[[Array], Array]:
    """To the dtype's precision, in float64."""
    if dtype != "tf32":
        return lambda values: from_storage(to_storage(values, dtype), dtype)

    def to_11_bits(values: Array) -> Array:
        mantissa, exponent = np.frexp(values)
        answer: Array = np.ldexp(np.rint(mantissa * 2**11), exponent - 11)
        return answer

    return to_11_bits


POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)
TILE = 4  # of the output: F(4x4, 3x3) and F(4x4, 5x5), the largest in common use


def vandermonde(points: int, terms: int) -> Array:
    """Values of a polynomial at the first points and at infinity."""
    finite = np.vander(POINTS[: points - 1], terms, increasing=True)
    return np.vstack([finite, np.eye(terms)[-1]])


def winograd(
    x: Array, w: Array, one: Problem, near: Callable[[Array], Array], near_sum: Callable[[Array], Array]
) -> Array:
    """Forward by tiles of 4x4; what is transformed is rounded by `near`, sums and the way back by `near_sum`.

    Cook and Toom's products of polynomials, transposed: y = V_m' ((V_r w) * (V_n^-T x)).
    """
    reach, pad = TILE + one.w[2] - 1, one.padding[0]
    of_filter, of_output = vandermonde(reach, one.w[2]), vandermonde(reach, TILE).T
    of_data = np.linalg.inv(vandermonde(reach, reach)).T
    tiles = -(-one.y[2] // TILE)
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad + TILE), (pad, pad + TILE)))
    y = np.zeros((*one.y[:2], TILE * tiles, TILE * tiles))
    filters = near(np.einsum("ai,kcij,bj->kcab", of_filter, w, of_filter))
    for row in range(0, TILE * tiles, TILE):
        for column in range(0, TILE * tiles, TILE):
            tile = padded[:, :, row : row + reach, column : column + reach]
            data = near(np.einsum("ai,ncij,bj->ncab", of_data, tile, of_data))
            products = near_sum(np.einsum("kcab,ncab->nkab", filters, data))
            back = near_sum(np.einsum("ia,nkab,jb->nkij", of_output, products, of_output))
            y[:, :, row : row + TILE, column : column + TILE] = back
    return y[:, :, : one.y[2], : one.y[3]]


def fft(x: Array, w: Array, one: Problem, near: Callable[[Array], Array], near_sum: Callable[[Array], Array]) -> Array:
    """Forward by one transform of 32x32, rounded likewise."""
    size, pad = (32, 32), one.padding[0]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))

    def parts(values: Any, how: Callable[[Array], Array]) -> Any:
        return how(values.real) + 1j * how(values.imag)

    data = parts(np.fft.fft2(padded, size), near)
    filters = parts(np.fft.fft2(w, size), near)
    products = parts(np.einsum("nchw,kchw->nkhw", data, filters.conj()), near_sum)
    whole = near_sum(np.fft.ifft2(products).real)
    answer: Array = whole[:, :, : one.y[2], : one.y[3]]
    return answer


TRANSFORMED = [("winograd", 3), ("winograd", 5), ("fft", 3), ("fft", 5)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("transform", "taps"), TRANSFORMED)
@pytest.mark.parametrize("seed", range(3))
def test_transforms_stay_within_the_tolerance(dtype: str, transform: str, taps: int, seed: int) -> None:
    one = problem_of(dtype, ((2, 8, 14, 14), (16, 8, taps, taps), taps // 2))
    x, w = operands("forward", one, seed)
    expected = convolve("forward", x, w, one)
    compute = {"winograd": winograd, "fft": fft}[transform]
    assert np.allclose(compute(x, w, one, np.array, np.array), expected, atol=1e-12)  # it is that transform
    near_sum = rounded("fp64" if dtype == "fp64" else "fp32")
    answer = rounded(dtype if dtype != "tf32" else "fp32")(compute(x, w, one, rounded(dtype), near_sum))
    assert compare(answer, expected).difference <= DTYPES[dtype].tolerance / 2


@pytest.mark.parametrize(
    ("answer", "expected", "difference", "detail"),
    [
        ([1.0, -4.0], [1.0, -4.0], 0.0, ""),
        ([1.0, -3.0], [1.0, -4.0], 0.25, "1 of 2 values differ, most at (1): -3, expected -4"),
        ([0.5, 0.0], [0.0, 0.0], 0.5, "1 of 2 values differ, most at (0): 0.5, expected 0"),
        ([float("nan"), 0.0], [0.0, 0.0], sys.float_info.max, "1 of 2 values are no numbers"),
        ([float("inf"), 0.0], [0.0, 0.0], sys.float_info.max, "1 of 2 values are no numbers"),
        ([1.0], [1.0, 1.0], sys.float_info.max, "has shape (1,), expected (2,)"),
    ],
)
def test_comparison(answer: list[float], expected: list[float], difference: float, detail: str) -> None:
    assert compare(np.array(answer), np.array(expected)) == (difference, detail)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (1.0, 0x3F80),
        (-2.0, 0xC000),
        (256.0, 0x4380),
        (257.0, 0x4380),  # a tie, to even
        (259.0, 0x4382),  # the next tie, upwards
        (2.0**-126, 0x0080),
    ],
)
def test_bfloat16_is_the_upper_half_of_float32(value: float, stored: int) -> None:
    assert int(to_storage(np.array([value]), "bf16")[0]) == stored


def test_data_that_cannot_be_thinned_enough_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DTYPES, "bf16", DTYPES["bf16"]._replace(exact_to=-1))
    with pytest.raises(ValueError, match="there is no thin enough data for bf16 3x3"):
        operands("forward", problem_of("bf16", ((1, 1, 4, 4), (1, 1, 3, 3), 1)))
