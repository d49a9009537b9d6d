"""The names of cuDNN's status codes. cuDNN 9 renumbered them, in ranges of a thousand.

Read from cudnn.h of 5.1.5 and 7.6.5, cudnn_ops_infer.h of 8.9.7, cudnn_graph.h of 9.10.2 and 9.13.0.
"""

_BEFORE_9 = {
    0: "SUCCESS",
    1: "NOT_INITIALIZED",
    2: "ALLOC_FAILED",
    3: "BAD_PARAM",
    4: "INTERNAL_ERROR",
    5: "INVALID_VALUE",
    6: "ARCH_MISMATCH",
    7: "MAPPING_ERROR",
    8: "EXECUTION_FAILED",
    9: "NOT_SUPPORTED",
    10: "LICENSE_ERROR",
    11: "RUNTIME_PREREQUISITE_MISSING",  # since 6
    12: "RUNTIME_IN_PROGRESS",  # since 7
    13: "RUNTIME_FP_OVERFLOW",  # since 7
    14: "VERSION_MISMATCH",  # since 8
}
_FROM_9 = {
    0: "SUCCESS",
    1001: "NOT_INITIALIZED",
    1002: "SUBLIBRARY_VERSION_MISMATCH",
    1003: "SERIALIZATION_VERSION_MISMATCH",
    1004: "DEPRECATED",
    1005: "LICENSE_ERROR",
    1006: "RUNTIME_IN_PROGRESS",
    1007: "RUNTIME_FP_OVERFLOW",
    1008: "SUBLIBRARY_LOADING_FAILED",
    2000: "BAD_PARAM",
    2001: "INVALID_VALUE",
    2002: "BAD_PARAM_NULL_POINTER",
    2003: "BAD_PARAM_MISALIGNED_POINTER",
    2004: "BAD_PARAM_NOT_FINALIZED",
    2005: "BAD_PARAM_OUT_OF_BOUND",
    2006: "BAD_PARAM_SIZE_INSUFFICIENT",
    2007: "BAD_PARAM_STREAM_MISMATCH",
    2008: "BAD_PARAM_SHAPE_MISMATCH",
    2009: "BAD_PARAM_DUPLICATED_ENTRIES",
    2010: "BAD_PARAM_ATTRIBUTE_TYPE",
    2011: "BAD_PARAM_CUDA_GRAPH_MISMATCH",
    2012: "BAD_PARAM_DESCRIPTOR_TYPE",
    3000: "NOT_SUPPORTED",
    3001: "NOT_SUPPORTED_GRAPH_PATTERN",
    3002: "NOT_SUPPORTED_SHAPE",
    3003: "NOT_SUPPORTED_DATA_TYPE",
    3004: "NOT_SUPPORTED_LAYOUT",
    3005: "NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER",
    3006: "NOT_SUPPORTED_INCOMPATIBLE_CUDART",
    3007: "NOT_SUPPORTED_ARCH_MISMATCH",
    3008: "NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING",
    3009: "NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
    3010: "NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT",
    3011: "NOT_SUPPORTED_PADDING",
    3012: "NOT_SUPPORTED_BAD_LAUNCH_PARAM",
    3013: "NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API",
    4000: "INTERNAL_ERROR",
    4001: "INTERNAL_ERROR_COMPILATION_FAILED",
    4002: "INTERNAL_ERROR_UNEXPECTED_VALUE",
    4003: "INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
    4004: "INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
    4005: "INTERNAL_ERROR_BAD_LAUNCH_PARAM",
    4006: "INTERNAL_ERROR_TEXTURE_CREATION_FAILED",
    5000: "EXECUTION_FAILED",
    5001: "EXECUTION_FAILED_CUDA_DRIVER",
    5002: "EXECUTION_FAILED_CUBLAS",
    5003: "EXECUTION_FAILED_CUDART",
    5004: "EXECUTION_FAILED_CURAND",
}
# A thousand of codes to each from 9 on: what a newer release adds is still named by its range.
_RANGES = {2: "BAD_PARAM", 3: "NOT_SUPPORTED", 4: "INTERNAL_ERROR", 5: "EXECUTION_FAILED"}

# They say NOT_SUPPORTED, and mean that something of the installation is missing or of another release.
_BROKEN_INSTALLATION = {
    "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER",
    "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDART",
    "CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING",
    "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE",
}


def status_name(status: int, major: int) -> str:
    """The name in cudnn.h of that major: 9 of cuDNN 8 and 3000 of cuDNN 9 are CUDNN_STATUS_NOT_SUPPORTED.

    A code that no header read here has is named by its range with its number behind it.
    """
    known = (_FROM_9 if major >= 9 else _BEFORE_9).get(status)
    if known:
        return f"CUDNN_STATUS_{known}"
    kind = _RANGES.get(status // 1000, "UNKNOWN") if major >= 9 else "UNKNOWN"
    return f"CUDNN_STATUS_{kind} ({status})"


def says_unsupported(name: str) -> bool:
    """Tell whether a status says that this GPU or this release has nothing for what was asked.

    NOT_SUPPORTED and ARCH_MISMATCH. Not those of 9's that are of a broken installation: a sub-library, NVRTC or
    a driver that is missing or too old.
    """
    begins = name.startswith(("CUDNN_STATUS_NOT_SUPPORTED", "CUDNN_STATUS_ARCH_MISMATCH"))
    return begins and name not in _BROKEN_INSTALLATION


def says_bad_parameter(name: str) -> bool:
    """Whether it blames an argument, which algorithms also do for a shape that they do not take."""
    return name.startswith(("CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_INVALID_VALUE"))
