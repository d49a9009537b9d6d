"""The functions of cuDNN's C API that are called here, their types, and the part of a release that has each.

Signatures were read from cudnn.h of 5.1.5 and 7.6.5, and the headers of 8.9.7, 9.10.2 and 9.13.0; a test compiles the
stub's prototypes against those of 7.6.5 and later. Only the Nd descriptors are used: cudnnSetConvolution2dDescriptor
changed its arguments in 6, cudnnSetConvolutionNdDescriptor has had the same since 4. Owners are as exported by the
libraries of 8.9.7 and 9.10.2.
"""

from __future__ import annotations

import ctypes
from typing import Any

from compat.base.record import NamedTuple

_ADDRESS = ctypes.c_void_p  # of the device, or an opaque handle or descriptor
_INT = ctypes.c_int
_INTS = ctypes.POINTER(ctypes.c_int)
_NEW = ctypes.POINTER(ctypes.c_void_p)  # where a handle or a descriptor is put
_INT64 = ctypes.c_int64
_INT64_OUT = ctypes.POINTER(ctypes.c_int64)
_SIZE = ctypes.c_size_t
_SIZE_OUT = ctypes.POINTER(ctypes.c_size_t)
_SCALAR = ctypes.c_void_p  # of a float in host memory; of a double for fp64


class Prototype(NamedTuple):
    """One function, as C knows it."""

    arguments: tuple[Any, ...]
    part_8: str  # the part of cuDNN 8 that has it, "" where 8 has no such function
    part_9: str
    since: int = 5  # the first major that has it; nothing older than 5 was looked at
    until: int = 9
    result: Any = ctypes.c_int  # cudnnStatus_t


_WORKSPACE_QUERY = (_ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _INT, _SIZE_OUT)
# handle, alpha, first descriptor, its data, second, its data, convolution, algorithm, workspace, its size, beta,
# output descriptor, its data
_CONVOLUTION = (
    *(_ADDRESS, _SCALAR, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _INT),
    *(_ADDRESS, _SIZE, _SCALAR, _ADDRESS, _ADDRESS),
)
# handle, two descriptors with their data, convolution, output descriptor, its data, how many, how many came, results
# (see `perf_struct`), workspace, its size
_FIND = (
    *(_ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS),
    *(_INT, _INTS, _ADDRESS, _ADDRESS, _SIZE),
)
_HEURISTIC = (_ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _INT, _INTS, _ADDRESS)


def _check(part: str) -> dict[str, Prototype]:
    """The version check of a part, which opens it: "ops_infer" has cudnnOpsInferVersionCheck."""
    is_8 = part.endswith(("_infer", "_train"))
    owners = (part, "") if is_8 else ("", part)
    return {version_check(part): Prototype((), *owners, since=8 if is_8 else 9, until=8 if is_8 else 9)}


def version_check(part: str) -> str:
    """The function that checks a part's release against the others'."""
    return f"cudnn{part.title().replace('_', '')}VersionCheck"


CHECKED_PARTS = {
    8: ("ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train"),
    9: ("graph", "ops", "cnn", "adv"),
}

PROTOTYPES: dict[str, Prototype] = {
    "cudnnGetVersion": Prototype((), "ops_infer", "graph", result=_SIZE),
    "cudnnGetCudartVersion": Prototype((), "ops_infer", "graph", since=6, result=_SIZE),
    "cudnnGetMaxDeviceVersion": Prototype((), "ops_infer", "graph", since=8, result=_SIZE),
    "cudnnGetErrorString": Prototype((_INT,), "ops_infer", "graph", result=ctypes.c_char_p),
    "cudnnGetLastErrorString": Prototype((ctypes.c_char_p, _SIZE), "", "graph", since=9, result=None),
    **{name: one for parts in CHECKED_PARTS.values() for part in parts for name, one in _check(part).items()},
    "cudnnCreate": Prototype((_NEW,), "ops_infer", "graph"),
    "cudnnDestroy": Prototype((_ADDRESS,), "ops_infer", "graph"),
    "cudnnSetStream": Prototype((_ADDRESS, _ADDRESS), "ops_infer", "graph"),
    "cudnnCreateTensorDescriptor": Prototype((_NEW,), "ops_infer", "ops"),
    "cudnnDestroyTensorDescriptor": Prototype((_ADDRESS,), "ops_infer", "ops"),
    # descriptor, cudnnDataType_t, number of dimensions, sizes, strides in elements
    "cudnnSetTensorNdDescriptor": Prototype((_ADDRESS, _INT, _INT, _INTS, _INTS), "ops_infer", "ops"),
    "cudnnCreateFilterDescriptor": Prototype((_NEW,), "ops_infer", "ops"),
    "cudnnDestroyFilterDescriptor": Prototype((_ADDRESS,), "ops_infer", "ops"),
    # descriptor, cudnnDataType_t, cudnnTensorFormat_t, number of dimensions, sizes
    "cudnnSetFilterNdDescriptor": Prototype((_ADDRESS, _INT, _INT, _INT, _INTS), "ops_infer", "ops"),
    "cudnnCreateConvolutionDescriptor": Prototype((_NEW,), "cnn_infer", "cnn"),
    "cudnnDestroyConvolutionDescriptor": Prototype((_ADDRESS,), "cnn_infer", "cnn"),
    # descriptor, spatial dimensions, padding, stride, dilation (5: "upscale", which must be 1), mode, compute type
    "cudnnSetConvolutionNdDescriptor": Prototype((_ADDRESS, _INT, _INTS, _INTS, _INTS, _INT, _INT), "cnn_infer", "cnn"),
    "cudnnSetConvolutionMathType": Prototype((_ADDRESS, _INT), "cnn_infer", "cnn", since=7),
    "cudnnSetConvolutionGroupCount": Prototype((_ADDRESS, _INT), "cnn_infer", "cnn", since=7),
    # convolution, input, filter, number of dimensions, the sizes of the output
    "cudnnGetConvolutionNdForwardOutputDim": Prototype((_ADDRESS, _ADDRESS, _ADDRESS, _INT, _INTS), "cnn_infer", "cnn"),
    "cudnnGetConvolutionForwardWorkspaceSize": Prototype(_WORKSPACE_QUERY, "cnn_infer", "cnn"),
    "cudnnGetConvolutionBackwardDataWorkspaceSize": Prototype(_WORKSPACE_QUERY, "cnn_infer", "cnn"),
    "cudnnGetConvolutionBackwardFilterWorkspaceSize": Prototype(_WORKSPACE_QUERY, "cnn_train", "cnn"),
    "cudnnConvolutionForward": Prototype(_CONVOLUTION, "cnn_infer", "cnn"),
    "cudnnConvolutionBackwardData": Prototype(_CONVOLUTION, "cnn_infer", "cnn"),
    "cudnnConvolutionBackwardFilter": Prototype(_CONVOLUTION, "cnn_train", "cnn"),
    "cudnnFindConvolutionForwardAlgorithmEx": Prototype(_FIND, "cnn_infer", "cnn"),
    "cudnnFindConvolutionBackwardDataAlgorithmEx": Prototype(_FIND, "cnn_infer", "cnn"),
    "cudnnFindConvolutionBackwardFilterAlgorithmEx": Prototype(_FIND, "cnn_train", "cnn"),
    "cudnnGetConvolutionForwardAlgorithm_v7": Prototype(_HEURISTIC, "cnn_infer", "cnn", since=7),
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": Prototype(_HEURISTIC, "cnn_infer", "cnn", since=7),
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": Prototype(_HEURISTIC, "cnn_train", "cnn", since=7),
    # the graph API: type of the descriptor, where it is put
    "cudnnBackendCreateDescriptor": Prototype((_INT, _NEW), "cnn_infer", "graph", since=8),
    "cudnnBackendDestroyDescriptor": Prototype((_ADDRESS,), "cnn_infer", "graph", since=8),
    "cudnnBackendFinalize": Prototype((_ADDRESS,), "cnn_infer", "graph", since=8),
    # descriptor, attribute, its type, how many, the values
    "cudnnBackendSetAttribute": Prototype((_ADDRESS, _INT, _INT, _INT64, _ADDRESS), "cnn_infer", "graph", since=8),
    # descriptor, attribute, its type, how many there is room for, how many there are, the values
    "cudnnBackendGetAttribute": Prototype(
        (_ADDRESS, _INT, _INT, _INT64, _INT64_OUT, _ADDRESS), "cnn_infer", "graph", since=8
    ),
    "cudnnBackendExecute": Prototype((_ADDRESS, _ADDRESS, _ADDRESS), "cnn_infer", "graph", since=8),
}


class Perf5(ctypes.Structure):
    """cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t of cuDNN 5: 24 bytes."""

    _fields_ = (
        ("algorithm", ctypes.c_int),
        ("status", ctypes.c_int),
        ("time_ms", ctypes.c_float),
        ("workspace_bytes", ctypes.c_size_t),
    )


class Perf6(ctypes.Structure):
    """The same of cuDNN 6: 48 bytes; four words were left for later."""

    _fields_ = (*Perf5._fields_, ("determinism", ctypes.c_int), ("reserved", ctypes.c_int * 4))


class Perf7(ctypes.Structure):
    """The same of cuDNN 7 to 9: the first of the words that were left became the math type."""

    _fields_ = (
        *Perf5._fields_,
        ("determinism", ctypes.c_int),
        ("math_type", ctypes.c_int),
        ("reserved", ctypes.c_int * 3),
    )


def perf_struct(major: int) -> type[Perf5 | Perf6 | Perf7]:
    """The structure in which that major answers cudnnFind...Ex and cudnnGet..._v7."""
    if major < 6:
        return Perf5
    return Perf6 if major == 6 else Perf7


# cudnnDataType_t. Source: cudnn.h of 7.6.5 (the first three: of 5.1.5 too), cudnn_ops_infer.h of 8.9.7.
DATA_FLOAT, DATA_DOUBLE, DATA_HALF = 0, 1, 2
DATA_BFLOAT16 = 9  # since 8.1
# cudnnTensorFormat_t and cudnnConvolutionMode_t. Source: cudnn.h of 5.1.5 to 9.13.0.
TENSOR_NCHW, TENSOR_NHWC = 0, 1
CONVOLUTION, CROSS_CORRELATION = 0, 1
# cudnnMathType_t, since 7. Source: cudnn.h of 7.6.5, cudnn_ops_infer.h of 8.9.7 (FMA_MATH: since 8).
DEFAULT_MATH, TENSOR_OP_MATH, TENSOR_OP_MATH_ALLOW_CONVERSION, FMA_MATH = 0, 1, 2, 3
