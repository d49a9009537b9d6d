"""Exceptions of the libraries as faults."""

from __future__ import annotations

from doctor.commands.verify.cudnn_trial.cudnn_api import CudnnError
from doctor.commands.verify.cudnn_trial.outcome import Fault

_OUT_OF_MEMORY = 2  # cudaErrorMemoryAllocation
_CUPY_ERRORS = {"CUDARuntimeError", "CUDADriverError"}
_LIBRARY_ERRORS = {
    "CUBLASError",
    "NVRTCError",
    "CompileException",
    "NcclError",
    "DistBackendError",
}  # the last is PyTorch's


def fault_of(error: Exception) -> Fault:
    """What an exception says: the binding's, CuPy's (known by their names, for it may not be here), or any other."""
    kind = type(error).__name__
    if isinstance(error, CudnnError):
        return Fault(kind="cudnn", function=error.function, status=error.status, name=error.name, text=error.text)
    if kind in _CUPY_ERRORS:
        name, _, text = str(error).partition(":")
        return Fault(
            kind="cuda", function="", status=int(getattr(error, "status", 0)), name=name.strip(), text=text.strip()
        )
    if kind == "OutOfMemoryError":
        return Fault(
            kind="cuda", function="cudaMalloc", status=_OUT_OF_MEMORY, name="cudaErrorMemoryAllocation", text=str(error)
        )
    if kind in _LIBRARY_ERRORS:
        return Fault(kind="library", function="", status=int(getattr(error, "status", 0)), name=kind, text=str(error))
    return Fault(kind="python", function="", status=0, name=kind, text=str(error))
