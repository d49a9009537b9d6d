"""As much of torch as the comparison asks for, by NumPy: its code runs where there is neither a GPU nor torch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from doctor.commands.verify.cudnn_trial.convolution import Problem
from doctor.commands.verify.cudnn_trial.reference import convolve

RANDOM = np.random.default_rng(6)


class Tensor:
    """An array under torch's names."""

    def __init__(self, array: Any) -> None:
        self.array = np.ascontiguousarray(array)

    def to(self, dtype: str) -> Tensor:
        return Tensor(self.array.astype(dtype))

    def contiguous(self, *, memory_format: str) -> Tensor:
        assert memory_format == "nchw"
        return self

    def data_ptr(self) -> int:
        return int(self.array.ctypes.data)

    def numel(self) -> int:
        return int(self.array.size)

    def double(self) -> Tensor:
        return self.to("float64")

    def abs(self) -> Tensor:
        return Tensor(np.abs(self.array))

    def max(self) -> Tensor:
        return Tensor(self.array.max())

    def clamp_min(self, least: float) -> Tensor:
        return Tensor(np.maximum(self.array, least))

    def __sub__(self, other: Tensor) -> Tensor:
        return Tensor(self.array - other.array)

    def __truediv__(self, other: Tensor) -> Tensor:
        return Tensor(self.array / other.array)

    def __float__(self) -> float:
        return float(self.array.item())


class Aten:
    """The two functions that convolve."""

    def convolution(self, x: Tensor, w: Tensor, _bias: None, *told: Any) -> Tensor:
        return self._done("forward", x, w, _problem(x.array, w.array, *told))

    def convolution_backward(self, dy: Tensor, x: Tensor, w: Tensor, _bias: None, *told: Any) -> list[Tensor | None]:
        *settings, wanted = told
        problem = _problem(x.array, w.array, *settings)
        data = self._done("backward-data", w, dy, problem) if wanted[0] else None
        return [data, self._done("backward-filter", x, dy, problem) if wanted[1] else None, None]

    def _done(self, direction: str, a: Tensor, b: Tensor, problem: Problem) -> Tensor:
        return Tensor(convolve(direction, a.array, b.array, problem)).to("float32")


def _problem(x: Any, w: Any, *told: Any) -> Problem:
    stride, padding, dilation, is_transposed, _, groups = told
    assert not is_transposed
    return Problem("fp32", x.shape, w.shape, tuple(padding), tuple(stride), tuple(dilation), groups)


def numpy_torch() -> Any:
    """The module."""

    def randn(shape: tuple[int, ...], *, device: str, dtype: str) -> Tensor:
        assert device == "cpu"
        return Tensor(RANDOM.standard_normal(shape).astype(dtype))

    return SimpleNamespace(
        float64="float64",
        float32="float32",
        float16="float16",
        bfloat16="bfloat16",
        uint8="uint8",
        channels_last="nhwc",
        contiguous_format="nchw",
        preserve_format="as it is",
        backends=SimpleNamespace(cudnn=SimpleNamespace(benchmark=False, allow_tf32=True)),
        ops=SimpleNamespace(aten=Aten()),
        randn=randn,
        empty=lambda size, **_: Tensor(np.empty(size, "uint8")),
        empty_like=lambda tensor, **_: Tensor(np.full_like(tensor.array, np.nan)),
    )
