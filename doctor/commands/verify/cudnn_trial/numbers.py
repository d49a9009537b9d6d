"""Numbers for the proof: how a dtype is stored, data whose convolution is exact in it, how far an answer may be off.

The data are small integers, so thin that the sum of the magnitudes of all products of any one output is an integer that
the dtype holds. Then every product, every partial sum in any order, and the output are exact, even where partial sums
are kept in the dtype itself (atomics, split sums): an algorithm that multiplies and adds must give the very answer.
Winograd and FFT transform the data first, which rounds: they are given a tolerance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial.convolution import Problem
from doctor.commands.verify.cudnn_trial.reference import convolve

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


class Dtype(NamedTuple):
    """How a dtype is stored, and what it holds."""

    storage: str  # NumPy's name; NumPy has no bfloat16, so its bits stand in 16-bit words
    exact_to: int  # every integer up to this one in magnitude is held exactly
    tolerance: float  # of what was rounded in a transform, over the greatest value of the answer


# In units of roundoff. Winograd's transforms, F(4x4, 3x3) and F(4x4, 5x5), done with each dtype's rounding were off by
# up to 90 of them in double, 25 in single precision, 20 in the others, FFT by less
# (tests/commands/verify/cudnn_trial/test_numbers.py); another way to do them may be some times worse. An answer with a
# tap or an image left out, or shifted by one, is off by a third of the greatest value: 64 of the widest unit,
# bfloat16's 2^-8, are still below that. cuDNN's Winograd of 5x5 filters (its kernels are called 9x9_5x5) has larger
# tiles, and is far less exact: on an H100, cuDNN 9.19.0 was off by 35,700 units of single precision in every format,
# each pass alike, where 3x3 was by 470.
_NARROW, _WIDE, _LARGE_TILE = 2**10, 2**6, 2**18
DTYPES: dict[str, Dtype] = {
    "fp64": Dtype("float64", 2**53, _NARROW * 2.0**-53),
    "fp32": Dtype("float32", 2**24, _NARROW * 2.0**-24),
    # the operands are rounded to 11 bits, sums and output are single precision
    "tf32": Dtype("float32", 2**11, _WIDE * 2.0**-11),
    "fp16": Dtype("float16", 2**11, _WIDE * 2.0**-11),
    "bf16": Dtype("uint16", 2**8, _WIDE * 2.0**-8),
}
_TRANSFORMS = ("WINOGRAD", "FFT")
_SMALL_FILTER = 3  # taps
_HALVINGS = 16


def tolerance(problem: Problem, algorithm: str) -> float:
    """How far the worst value may be off, over the greatest value of the answer; 0.0 where it must be exact."""
    of_dtype = DTYPES[problem.dtype].tolerance
    if algorithm.startswith("WINOGRAD") and max(problem.w[2:]) > _SMALL_FILTER:
        return max(of_dtype, _LARGE_TILE * 2.0 ** (-53 if problem.dtype == "fp64" else -24))
    return of_dtype if algorithm.startswith(_TRANSFORMS) else 0.0


def to_storage(values: Array, dtype: str) -> Array:
    """Float64 values as the dtype's bits, rounded to nearest, ties to even."""
    import numpy as np

    if dtype != "bf16":
        return np.ascontiguousarray(values, dtype=DTYPES[dtype].storage)
    bits: Array = np.ascontiguousarray(values, dtype="float32").view("uint32")
    rounded: Array = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return rounded.astype("uint16")


def from_storage(stored: Array, dtype: str) -> Array:
    """The same values in float64."""
    if dtype != "bf16":
        return stored.astype("float64")
    wide: Array = stored.astype("uint32") << 16
    return wide.view("float32").astype("float64")


def operands(direction: str, problem: Problem, seed: int = 0) -> tuple[Array, Array]:
    """The two inputs of a pass in float64: integers of -2 to 2 and -1 to 1, exact in the problem's dtype.

    The second is thinned out until the magnitudes' convolution stays within the dtype.
    """
    import numpy as np

    first_shape, second_shape, _ = problem.shapes(direction)
    first, second = whole_numbers(first_shape, 2, seed), whole_numbers(second_shape, 1, seed + 1)
    random = np.random.default_rng(seed + 2)
    for _ in range(_HALVINGS):
        if greatest_sum(direction, first, second, problem) <= DTYPES[problem.dtype].exact_to:
            return first, second
        second = second * random.integers(0, 2, second_shape)
    raise ValueError(f"there is no thin enough data for {problem.dtype} {problem.label}")


def whole_numbers(shape: tuple[int, ...], greatest: int, seed: int) -> Array:
    """Integers from -greatest to greatest in float64, the same for the same seed."""
    import numpy as np

    return np.random.default_rng(seed).integers(-greatest, greatest, shape, "int8", endpoint=True).astype("float64")


def greatest_sum(direction: str, first: Array, second: Array, problem: Problem) -> float:
    """The greatest sum of magnitudes of one output's products, which bounds every partial sum in any order."""
    return float(convolve(direction, abs(first), abs(second), problem).max())


class Comparison(NamedTuple):
    """An answer beside the reference."""

    difference: float  # greatest absolute one over the reference's greatest magnitude; the greatest float for no number
    detail: str  # where, and what stands there; "" where nothing differs


def compare(answer: Array, expected: Array) -> Comparison:
    """How far an answer is off, both in float64."""
    import numpy as np

    if answer.shape != expected.shape:
        return Comparison(_no_number(), f"has shape {answer.shape}, expected {expected.shape}")
    finite = np.isfinite(answer)
    if not finite.all():
        return Comparison(_no_number(), f"{answer.size - int(finite.sum())} of {answer.size} values are no numbers")
    off = np.abs(answer - expected)
    if not off.any():
        return Comparison(0.0, "")
    worst = np.unravel_index(int(off.argmax()), off.shape)
    where = ", ".join(str(int(one)) for one in worst)
    detail = f"{int((off > 0).sum())} of {off.size} values differ, most at ({where})"
    scale = max(float(np.abs(expected).max()), 1.0)
    return Comparison(float(off.max()) / scale, f"{detail}: {answer[worst]:g}, expected {expected[worst]:g}")


def _no_number() -> float:
    import sys

    return sys.float_info.max  # JSON has no infinity
