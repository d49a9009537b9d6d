"""Errors of NVIDIA's libraries, by the names and numbers of their headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.artefact import StatusRow
from compat.matrix import Matrix
from doctor.messages.clues import Clues
from doctor.messages.signature import Means

_USER, _MEMORY, _NCCL, _LIBRARIES, _NVML = (
    "not-a-stack-problem",
    "out-of-memory-not-a-stack-fault",
    "nccl-failed",
    "driver-libraries-missing",
    "nvml-error",
)
_OLD, _ARCH, _TOO_NEW, _NVRTC = (
    "driver-too-old-for-runtime",
    "gpu-arch-not-in-build",
    "gpu-too-new-for-cuda",
    "nvrtc-missing",
)
_NO_ROOM = (
    "ALLOC_FAILED|ALLOCATION_FAILED|OUT_OF_MEMORY|FAILED_ALLOCATION|INSUFFICIENT_(?:RESOURCES|MEMORY)|NO_WORKSPACE"
    "|HEAP_EXHAUSTED|LaunchOutOfResources|LAUNCH_OUT_OF_RESOURCES"
)
_NOT_STARTED = "NOT_INITIALIZED|SETUP_FAILED|INITIALIZATION_FAILED|FAILED_INITIALIZATION|UNINITIALIZED"
_FAILED = (
    r"EXECUTION_FAILED\w*|LAUNCH_FAILURE|LAUNCH_FAILED|EXEC_FAILED|MAPPING_ERROR|PREEXISTING_FAILURE|INTERNAL_ERROR"
    "|FAILED_EXECUTION|CUDA_ERROR"
)
# By the ends of the names; the first that fits decides. The numbers are low: a status names no cause by itself.
_KINDS: tuple[tuple[str, str, str, float], ...] = (
    ("FABRIC_NOT_READY|FabricNotReady", "fabric-manager-not-running", "the NVLink fabric is not ready", 0.8),
    (
        "LIB_RM_VERSION_MISMATCH",
        "driver-library-mismatch",
        "the kernel module and the libraries differ in release",
        0.9,
    ),
    ("NVML_ERROR_DRIVER_NOT_LOADED", "no-kernel-module", "the driver's kernel module is not loaded", 0.85),
    ("NVML_ERROR_LIBRARY_NOT_FOUND", _LIBRARIES, "a library of the driver is not found", 0.8),
    ("NO_PERMISSION|NOT_PERMITTED", "device-permissions", "the user has no right to do this", 0.5),
    ("GPU_IS_LOST", "ecc-xid-hardware-fault", "the GPU does not answer any more", 0.85),
    ("RESET_REQUIRED", "gpu-recovery-needed", "the GPU needs a reset", 0.8),
    ("NVML_ERROR_(?:INSUFFICIENT_POWER|IRQ_ISSUE|CORRUPTED_INFOROM|UNKNOWN)", _NVML, "NVML cannot use a GPU", 0.6),
    ("UNSUPPORTED_ABI_VERSION", _OLD, "the driver is older than this OptiX needs", 0.85),
    ("INSUFFICIENT_LOADER_VERSION|INSUFFICIENT_DRIVER_VERSION", _OLD, "the driver is too old for the program", 0.7),
    ("OPTIX_ERROR_(?:LIBRARY_NOT_FOUND|ENTRY_SYMBOL_NOT_FOUND)", _LIBRARIES, "libnvoptix is missing or old", 0.75),
    ("JIT_COMPILER_NOT_FOUND|JitCompilerNotFound", _LIBRARIES, "libnvidia-ptxjitcompiler is not found", 0.75),
    ("BUILTIN_OPERATION_FAILURE|MISSING_DEPENDENCY|NVRTC_FAILURE", _NVRTC, "a part of NVRTC is missing or old", 0.6),
    ("NVRTC_ERROR_INVALID_OPTION", _TOO_NEW, "this NVRTC may be older than the GPU", 0.45),
    ("PTX_COMPILE|NVJITLINK_ERROR_ARCH_MISMATCH", _TOO_NEW, "this nvJitLink may be older than the GPU or PTX", 0.42),
    ("OUTDATED_LIBRARY|NVJITLINK_FAILURE", "pip-nvidia-wheels-conflict", "nvJitLink is older than its caller", 0.5),
    ("CURAND_STATUS_VERSION_MISMATCH", "library-for-other-cuda", "the header and the library have two releases", 0.7),
    ("ARCH_MISMATCH|InvalidDeviceFunction|INVALID_DEVICE_FUNCTION", _ARCH, "there is no code for this GPU", 0.6),
    (_NO_ROOM, _MEMORY, "there is too little memory", 0.6),
    ("ncclRemoteError", _USER, "another process of the job ended first; its log has the cause", 0.5),
    ("ncclInvalid(?:Usage|Argument)", _USER, "NCCL was called in a wrong way, often with one GPU for two ranks", 0.5),
    ("ncclSystemError", _USER, "a system call failed, mostly of the network between nodes or of shared memory", 0.45),
    ("nccl\\w+Error|ncclTimeout", _NCCL, "NCCL failed; NCCL_DEBUG=WARN shows the reason", 0.5),
    (_NOT_STARTED, _MEMORY, "the library could not start, mostly because the GPU's memory is full", 0.42),
    (_FAILED, _USER, "a GPU kernel failed, often one that was started earlier", 0.42),
    ("", _USER, "the library refuses the call", 0.4),
)
_NOTES = re.compile(
    r"\w+_SUCCESS|ncclInProgress|(?:CUDA|NVML)_ERROR_NOT_READY|cudaErrorNotReady|NVML_ERROR_ALREADY_INITIALIZED"
    r"|cudaErrorCudartUnloading|CUDA_ERROR_DEINITIALIZED"
)  # a call that came too early or too late, which is no fault


def of_status(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By the name, or by the number: what the library's own header says of it."""
    rows = _known(found, clues.matrix)
    if not rows and found["name"]:
        yield from _means(found["name"], found["name"])
    for row in rows[:1]:
        yield from _means(row.name, f"{row.name} ({row.code})")


def _means(name: str, shown: str) -> Iterator[Means]:
    if not _NOTES.fullmatch(name):
        code, why, sure = next(kind[1:] for kind in _KINDS if re.search(f"(?:{kind[0]})$", name))
        yield Means(code, f"{shown}: {why}", sure)


def _known(found: re.Match[str], matrix: Matrix) -> list[StatusRow]:
    """Return the rows of the status that a message names, the newest numbering first."""
    rows: tuple[StatusRow, ...] = matrix.rows("status", "codes")
    if found["name"]:
        mine = [row for row in rows if row.name == found["name"]]
    else:
        library = "tensorrt" if found["trt"] else found["library"].lower()
        number = int(found["trt"] or found["number"])
        mine = [row for row in rows if (row.library, row.code) == (library, number)]
    return sorted(mine, key=lambda row: row.versions.startswith("<"))
