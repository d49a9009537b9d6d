"""Every error of CUDA by its name, number or words, as `verify` reads them; what the text says besides is surer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.artefact import StatusRow
from doctor.messages.cause import CRASH, CUDA_CALL, Cause, of_cuda
from doctor.messages.clues import Clues
from doctor.messages.signature import Means

_USER, _NODES = "not-a-stack-problem", "no-device-nodes"
# What cudaGetErrorString answers, the same in all releases, where it names an error that has a cause.
_WORDS = {
    "initialization error": "cudaErrorInitializationError",
    "unspecified launch failure": "cudaErrorLaunchFailure",
    "unknown error": "cudaErrorUnknown",
    "CUDA driver version is insufficient": "cudaErrorInsufficientDriver",
    "CUDA driver is a stub library": "cudaErrorStubLibrary",
    "API call is not supported in the installed CUDA driver": "cudaErrorCallRequiresNewerDriver",
    "devices are busy or unavailable": "cudaErrorDevicesUnavailable",
    "device(s) is/are busy or unavailable": "cudaErrorDevicesUnavailable",
    "uncorrectable ECC error encountered": "cudaErrorECCUncorrectable",
    "uncorrectable NVLink error detected": "cudaErrorNvlinkUncorrectable",
    "hardware error while accessing peer": "cudaErrorContained",
    "shared object initialization failed": "cudaErrorSharedObjectInitFailed",
    "OS call failed or operation not supported": "cudaErrorOperatingSystem",
    "an illegal memory access was encountered": "cudaErrorIllegalAddress",
    "an illegal instruction was encountered": "cudaErrorIllegalInstruction",
    "misaligned address": "cudaErrorMisalignedAddress",
    "system not yet initialized": "cudaErrorSystemNotReady",
    "unsupported display driver / cuda driver combination": "cudaErrorSystemDriverMismatch",
    "forward compatibility was attempted": "cudaErrorCompatNotSupportedOnDevice",
}
# Who says them: torch's THC (to 1.9), torch, Caffe, MXNet, darknet, NCCL, NVIDIA's samples and others.


def of_error(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By the name, or by the number before and since CUDA 10.1: no number means two faults."""
    names = (
        [found["name"]] if found["name"] else [row.name for row in _rows(int(found["number"] or found["thc"]), clues)]
    )
    yield from (one for name in names for one in _means(of_cuda(name)))


def _rows(number: int, clues: Clues) -> list[StatusRow]:
    rows: tuple[StatusRow, ...] = clues.matrix.rows("status", "codes")
    return [row for row in rows if row.library == "cuda" and row.code == number]


def of_words(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Find the error by the words that the runtime prints for it."""
    said = " ".join(found["words"].split()).lower()
    yield from _means(of_cuda(next(name for words, name in _WORDS.items() if words.lower() == said)))


def _means(cause: Cause) -> Iterator[Means]:
    """A kernel that dies is the program's; what has no code of its own is a cause only where it keeps CUDA from it."""
    if cause.code == CRASH:
        yield Means(_USER, cause.why, 0.5)
    elif cause.code != CUDA_CALL:
        yield Means(cause.code, cause.why, 0.4)
    elif cause.advice:
        yield Means(_NODES, f"{cause.why}: device nodes may be missing or closed", 0.4)
