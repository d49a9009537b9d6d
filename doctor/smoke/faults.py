"""Exceptions of the libraries as faults."""

from __future__ import annotations

from doctor.smoke.cudnn_api import CudnnError
from doctor.smoke.outcome import Fault

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation
_CUPY_ERRORS = {"CUDARuntimeError", "CUDADriverError"}


def fault_of(error: Exception) -> Fault:
    """What an exception says: the binding's, CuPy's (known by their names, for it may not be here), or any other."""
    kind = type(error).__name__
    if isinstance(error, CudnnError):
        return Fault("cudnn", error.function, error.status, error.name, error.text)
    if kind in _CUPY_ERRORS:
        name, _, text = str(error).partition(":")
        return Fault("cuda", "", int(getattr(error, "status", 0)), name.strip(), text.strip())
    if kind == "OutOfMemoryError":
        return Fault("cuda", "cudaMalloc", _OUT_OF_MEMORY, "cudaErrorMemoryAllocation", str(error))
    return Fault("python", "", 0, kind, str(error))
