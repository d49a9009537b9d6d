"""Convolutions as cuDNN is asked for them: a problem as a value, its descriptors, its passes and algorithms."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType

from compat.base.record import NamedTuple
from doctor.commands.verify.cudnn_trial import cudnn_prototypes as c
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.cudnn_prototypes import perf_struct

DIRECTIONS = ("forward", "backward-data", "backward-filter")
# What goes in, in cuDNN's order, and what comes out; of the gradients' passes "y" is dy, and what comes out dx, dw.
OPERANDS = {"forward": ("x", "w", "y"), "backward-data": ("w", "y", "x"), "backward-filter": ("x", "y", "w")}

# The position is the value of cudnnConvolution{Fwd,BwdData,BwdFilter}Algo_t; the same in cudnn.h of 5.1.5 to 9.13.0
# (5.0 ends the first at WINOGRAD). Those that a release or a GPU does not have are declined.
ALGORITHMS: dict[str, tuple[str, ...]] = {
    "forward": (
        *("IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM", "GEMM", "DIRECT"),
        *("FFT", "FFT_TILING", "WINOGRAD", "WINOGRAD_NONFUSED"),
    ),
    "backward-data": ("ALGO_0", "ALGO_1", "FFT", "FFT_TILING", "WINOGRAD", "WINOGRAD_NONFUSED"),
    "backward-filter": ("ALGO_0", "ALGO_1", "FFT", "ALGO_3", "WINOGRAD", "WINOGRAD_NONFUSED", "FFT_TILING"),
}

_NAMES = {"forward": "Forward", "backward-data": "BackwardData", "backward-filter": "BackwardFilter"}
# dtype: cudnnDataType_t of the tensors, and of the sums
DATA_TYPES = {
    "fp64": (c.DATA_DOUBLE, c.DATA_DOUBLE),
    "fp32": (c.DATA_FLOAT, c.DATA_FLOAT),
    "tf32": (c.DATA_FLOAT, c.DATA_FLOAT),
    "fp16": (c.DATA_HALF, c.DATA_FLOAT),
    "bf16": (c.DATA_BFLOAT16, c.DATA_FLOAT),
}
_MOST_RESULTS = 32  # of a search: an algorithm may come once for each of its math types
_MOST_DIMENSIONS = 8  # CUDNN_DIM_MAX


class Problem(NamedTuple):
    """One convolution (a cross-correlation, as frameworks mean it), in one dtype.

    Shapes are N, C, spatial... and K, C / groups, spatial...; padding, stride and dilation have one number a spatial
    dimension. `layout` says how they are stored: "nchw", or "nhwc" with the channel last (and K, spatial, C).
    """

    dtype: str  # "fp64", "fp32", "tf32", "fp16", "bf16"
    x: tuple[int, ...]
    w: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    layout: str = "nchw"

    @property
    def dims(self) -> int:
        """How many of them are spatial: 1, 2 or 3."""
        return len(self.x) - 2

    @property
    def y(self) -> tuple[int, ...]:
        """Shape of the output."""
        spatial = (
            (size + 2 * padding - dilation * (taps - 1) - 1) // stride + 1
            for size, taps, padding, stride, dilation in zip(
                self.x[2:], self.w[2:], self.padding, self.stride, self.dilation, strict=True
            )
        )
        return (self.x[0], self.w[0], *spatial)

    @property
    def label(self) -> str:
        """Taps, and what is not usual: "3x3", "3x3 stride 2", "3x3 groups 2"."""
        words = [_by(self.w[2:])]
        words += [f"stride {_one_or_by(self.stride)}"] if set(self.stride) != {1} else []
        words += [f"dilation {_one_or_by(self.dilation)}"] if set(self.dilation) != {1} else []
        words += [f"groups {self.groups}"] if self.groups != 1 else []
        words += [self.layout] if self.layout != "nchw" else []
        return " ".join(words)

    def shapes(self, direction: str) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """What goes in and what comes out: (x, w, y), (w, dy, dx) or (x, dy, dw)."""
        every = {"x": self.x, "w": self.w, "y": self.y}
        first, second, out = OPERANDS[direction]
        return every[first], every[second], every[out]


def _by(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def _one_or_by(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(set(sizes)) == 1 else _by(sizes)


class Found(NamedTuple):
    """What cudnnFind...Ex measured of one algorithm."""

    algorithm: str
    time_ms: float
    workspace_bytes: int
    status: int  # 0, or why it could not be measured; then the rest means nothing


class Convolution:
    """The descriptors of one problem for one open copy, and the calls that use them.

    Raises CudnnError where the release does not take the problem, `is_declined` as for an algorithm. A context manager.
    """

    def __init__(self, cudnn: Cudnn, problem: Problem) -> None:
        self.problem = problem
        self._cudnn = cudnn
        with ExitStack() as made:
            self._made = made
            self._x, self._y = self._tensor(problem.x), self._tensor(problem.y)
            self._w = self._filter(problem.w)
            self._convolution = self._described()
            self._check_shape()
            self._made = made.pop_all()
        descriptors = {"x": self._x, "w": self._w, "y": self._y}
        self._inputs = {
            direction: (descriptors[first], descriptors[second], descriptors[out])
            for direction, (first, second, out) in OPERANDS.items()
        }
        scalar = ctypes.c_double if problem.dtype == "fp64" else ctypes.c_float
        self._one, self._zero = scalar(1), scalar(0)

    def __enter__(self) -> Convolution:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Destroy the descriptors; raises CudnnError."""
        self._made.close()

    def workspace_bytes(self, direction: str, algorithm: str) -> int:
        """How much the algorithm needs; raises CudnnError, `is_declined` where it does not take the problem."""
        first, second, out = self._inputs[direction]
        needed = ctypes.c_size_t()
        self._cudnn.call(
            f"cudnnGetConvolution{_NAMES[direction]}WorkspaceSize",
            *(self._cudnn.handle, first, second, self._convolution, out),
            *(ALGORITHMS[direction].index(algorithm), ctypes.byref(needed)),
        )
        return needed.value

    def run(  # noqa: PLR0913, PLR0917 - as many as cuDNN's own
        self, direction: str, algorithm: str, a: int, b: int, out: int, workspace: int, workspace_bytes: int
    ) -> None:
        """Put one pass on the handle's stream; the data are addresses on the device. Raises CudnnError.

        forward(x, w) -> y, backward-data(w, dy) -> dx, backward-filter(x, dy) -> dw.
        """
        first, second, into = self._inputs[direction]
        self._cudnn.call(
            f"cudnnConvolution{_NAMES[direction]}",
            *(self._cudnn.handle, ctypes.byref(self._one), first, a, second, b, self._convolution),
            *(ALGORITHMS[direction].index(algorithm), workspace, workspace_bytes),
            *(ctypes.byref(self._zero), into, out),
        )

    def find(  # noqa: PLR0913, PLR0917 - as many as cuDNN's own
        self, direction: str, x: int, w: int, y: int, workspace: int, workspace_bytes: int
    ) -> list[Found]:
        """Measure every algorithm that fits into that workspace, fastest first; overwrites the pass's output.

        `x`, `w`, `y` are addresses on the device of the data or, of the output, of room for it. Raises CudnnError.
        """
        results, came = (perf_struct(self._cudnn.major) * _MOST_RESULTS)(), ctypes.c_int()
        addresses = {"x": x, "w": w, "y": y}
        a, b, into = (addresses[name] for name in OPERANDS[direction])
        first, second, out = self._inputs[direction]
        self._cudnn.call(
            f"cudnnFindConvolution{_NAMES[direction]}AlgorithmEx",
            *(self._cudnn.handle, first, a, second, b, self._convolution),
            *(out, into, _MOST_RESULTS, ctypes.byref(came)),
            *(ctypes.cast(results, ctypes.c_void_p), workspace, workspace_bytes),
        )
        return [
            Found(_algorithm_name(direction, one.algorithm), one.time_ms, one.workspace_bytes, one.status)
            for one in results[: came.value]
        ]

    def _create(self, kind: str) -> ctypes.c_void_p:
        made = ctypes.c_void_p(self._cudnn.create(f"cudnnCreate{kind}Descriptor"))
        self._made.callback(self._cudnn.call, f"cudnnDestroy{kind}Descriptor", made)
        return made

    def _tensor(self, shape: tuple[int, ...]) -> ctypes.c_void_p:
        made, sizes = self._create("Tensor"), at_least_4d(shape)
        strides = strides_of(sizes, self.problem.layout)
        data_type = DATA_TYPES[self.problem.dtype][0]
        self._cudnn.call("cudnnSetTensorNdDescriptor", made, data_type, len(sizes), _ints(sizes), _ints(strides))
        return made

    def _filter(self, shape: tuple[int, ...]) -> ctypes.c_void_p:
        made, sizes = self._create("Filter"), at_least_4d(shape)
        data_type = DATA_TYPES[self.problem.dtype][0]
        order = c.TENSOR_NHWC if self.problem.layout == "nhwc" else c.TENSOR_NCHW
        self._cudnn.call("cudnnSetFilterNdDescriptor", made, data_type, order, len(sizes), _ints(sizes))
        return made

    def _described(self) -> ctypes.c_void_p:
        made, problem = self._create("Convolution"), self.problem
        # 1D is given as 2D of height 1
        padding, stride, dilation = problem.padding, problem.stride, problem.dilation
        if problem.dims == 1:
            padding, stride, dilation = (0, *padding), (1, *stride), (1, *dilation)
        numbers = (_ints(padding), _ints(stride), _ints(dilation))
        kinds = (c.CROSS_CORRELATION, DATA_TYPES[problem.dtype][1])
        self._cudnn.call("cudnnSetConvolutionNdDescriptor", made, len(padding), *numbers, *kinds)
        if problem.groups != 1:
            self._cudnn.call("cudnnSetConvolutionGroupCount", made, problem.groups)
        if self._cudnn.has("cudnnSetConvolutionMathType"):
            self._cudnn.call("cudnnSetConvolutionMathType", made, _math_type(problem.dtype, self._cudnn.major))
        return made

    def _check_shape(self) -> None:
        """Whether cuDNN means the same output as we do: else the passes would write past its end."""
        function, expected = "cudnnGetConvolutionNdForwardOutputDim", at_least_4d(self.problem.y)
        sizes = (ctypes.c_int * _MOST_DIMENSIONS)()
        self._cudnn.call(function, self._convolution, self._x, self._w, len(expected), sizes)
        answered = tuple(sizes[: len(expected)])
        if answered != expected:
            raise CudnnError(function, 0, "", f"the output has shape {answered}, expected {expected}")


def at_least_4d(shape: tuple[int, ...]) -> tuple[int, ...]:
    """N, C, L as N, C, 1, L: many functions take no tensor of less than four dimensions."""
    return shape if len(shape) > 3 else (*shape[:2], 1, *shape[2:])


def strides_of(sizes: tuple[int, ...], layout: str) -> tuple[int, ...]:
    """In elements, of N, C, spatial..., as the layout stores them."""
    outer_first = (0, *range(2, len(sizes)), 1) if layout == "nhwc" else tuple(range(len(sizes)))
    strides, step = [0] * len(sizes), 1
    for axis in reversed(outer_first):
        strides[axis] = step
        step *= sizes[axis]
    return tuple(strides)


def _ints(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_int]:
    return (ctypes.c_int * len(numbers))(*numbers)


def _math_type(dtype: str, major: int) -> int:
    """How fp32 may be multiplied: from cuDNN 8 on DEFAULT_MATH lets it be rounded to TF32, FMA_MATH does not.

    Source: cudnnMathType_t in NVIDIA's cuDNN API reference. TENSOR_OP_MATH is what lets cuDNN 7 use tensor cores.
    """
    if dtype in {"fp16", "bf16"}:
        return c.TENSOR_OP_MATH
    return c.FMA_MATH if dtype == "fp32" and major >= 8 else c.DEFAULT_MATH


def _algorithm_name(direction: str, value: int) -> str:
    known = ALGORITHMS[direction]
    return known[value] if 0 <= value < len(known) else f"number {value}"
