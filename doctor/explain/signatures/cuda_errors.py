"""Every error of CUDA by its name, number or words, as `verify` reads them; what the text says besides is surer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.artefact import StatusRow
from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.explain.signatures._words import BOXED, WINDOWS
from doctor.verify.cause import CRASH, CUDA_CALL, Cause, of_cuda

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
_SAID = "|".join(re.escape(words).replace(r"\ ", " ") for words in _WORDS)
# Who says them: torch's THC (to 1.9), torch, Caffe, MXNet, darknet, NCCL, NVIDIA's samples and others.
_SPEAKER = r"\b(?:THCudaCheck|CUDA|cuda\w*|cuInit|cudaSuccess)\b"


def _of_error(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By the name, or by the number before and since CUDA 10.1: no number means two faults."""
    names = (
        [found["name"]] if found["name"] else [row.name for row in _rows(int(found["number"] or found["thc"]), clues)]
    )
    yield from (one for name in names for one in _means(of_cuda(name)))


def _rows(number: int, clues: Clues) -> list[StatusRow]:
    rows: tuple[StatusRow, ...] = clues.matrix.rows("status", "codes")
    return [row for row in rows if row.library == "cuda" and row.code == number]


def _of_words(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
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


FAMILY = Family(
    Signature(
        r"(?-i:\b(?P<name>cudaError[A-Z]\w+|CUDA_ERROR_[A-Z_]+)\b)|(?:CUDA|cuda\w*|cuInit)(?:\(\))?(?: runtime)? ?"
        r"(?:error|failure|failed|returned)(?: (?:with|error|code|number|status)){0,3}[ :=(#]{1,4}(?P<number>\d{1,3})\b"
        r"|THCudaCheck FAIL [^\n]{0,160} error=(?P<thc>\d{1,3})\b",
        decide=_of_error,
        source="NVIDIA CUDA Runtime API, cudaError_t; CUDA Driver API, CUresult",
    ),
    Signature(
        rf"{_SPEAKER}[^\n]{{0,240}}?[ :'\"](?P<words>{_SAID})\b",
        decide=_of_words,
        source="NVIDIA CUDA Runtime API, cudaGetErrorString of 5.5 to 13.0; torch to 1.9: aten/src/THC/THCGeneral.cpp",
    ),
    Signature(
        r"(?:cudaGetDeviceCount|NumCudaDevices|cuInit)[^\n]{0,160}named symbol not found"
        r"|failed to initialize CUDA: named symbol not found|CUDA error at \S*/cuda\.cc:\d+ - named symbol not found",
        Means(
            "container-without-gpu-runtime",
            "a container in WSL or Docker Desktop lacks a library of a newer Windows driver (libnvdxgdmal.so.1): "
            "Docker or the container toolkit is older than the driver",
            0.85,
            given=f"{BOXED}|{WINDOWS}|WSL",
        ),
        Means(
            "container-without-gpu-runtime",
            "CUDA starts with a part of the driver only: mostly in WSL, by a container toolkit older than the driver",
            0.6,
            unless=f"{BOXED}|{WINDOWS}|WSL",
        ),
        asks="Is it a container in WSL or Docker Desktop, and is its container toolkit 1.15 or newer?",
        source="NVIDIA CUDA Runtime API, error 500; NVIDIA/nvidia-container-toolkit: CHANGELOG.md, 1.15.0",
    ),
    Signature(
        r"device_count_ > 0 \((?P<count>-?\d+) vs\. 0\)|GPU context requested, but no GPUs found",
        Means("container-without-gpu-runtime", "the container was not given the GPU", 0.6, given=BOXED),
        Means("no-kernel-module", "MXNet counts no GPU: no driver answers, or it is too old for this build", 0.5),
        Means("driver-too-old-for-runtime", "the driver may be older than the CUDA of this MXNet", 0.45),
        Means("cuda-visible-devices-empty-or-invalid", "CUDA_VISIBLE_DEVICES may hide every GPU", 0.4),
        asks="What does nvidia-smi say where the program runs?",
        source="apache/mxnet: src/engine/threaded_engine.cc, src/base.cc",
    ),
)
