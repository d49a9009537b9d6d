"""The stage that has cuDNN plan a convolution for a GPU that is only described: it needs none, and opens every part.

Engines and heuristics are opened when something is to be computed, so that without a GPU a damaged one is mostly not
noticed. From 9.8 on cuDNN plans for a GPU whose properties it is told, and says which part it cannot open.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from doctor.smoke.convolution import Problem
from doctor.smoke.cudnn_api import CudnnError
from doctor.smoke.graph import GraphConvolution
from doctor.smoke.outcome import Fault
from doctor.smoke.trial import StageFailed, Trial

_SINCE = 90800  # CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION. Source: cudnn_graph.h of 9.10.2, NVIDIA's cudnn-frontend
# An H200, by the names of cudaDeviceProp and NVIDIA's figures. Which members are wanted cuDNN says by itself.
H200: dict[str, Any] = {
    "deviceVer": 900,
    "driverVer": 13000,
    "deviceName": "NVIDIA H200",
    "cudaDeviceId": 0,
    "pciDeviceId": 0,
    "maxGridSize": [2147483647, 65535, 65535],
    "maxBlockSize": [1024, 1024, 64],
    "warpSize": 32,
    "multiProcessorCount": 132,
    "maxCtasPerSM": 32,
    "maxThreadsPerSM": 2048,
    "maxRegistersPerSM": 65536,
    "regsPerBlock": 65536,
    "maxSharedMemoryPerBlock": 49152,
    "maxSharedMemoryPerBlockOptin": 232448,
    "reservedSharedMemoryPerBlock": 1024,
    "l2CacheSize": 62914560,
    "totalGlobalMem": 150000000000,
    "smClockRateKHz": 1980000,
    "memClockRateKHz": 3201000,
    "isTccDriver": 0,
    "supportCoopLaunch": 1,
}
_PROBLEM = Problem(dtype="fp32", x=(8, 64, 56, 56), w=(64, 64, 3, 3), padding=(1, 1), stride=(1, 1), dilation=(1, 1))
_BESIDE = ("", "../../cublas/lib", "../../cu13/lib")  # of NVIDIA's wheels: the RUNPATH of cuDNN's parts


def plans(trial: Trial) -> dict[str, Any]:
    """Let cuDNN plan a convolution for an H200, which need not be there.

    Facts: `planned`, the engine that it would take first ("engine 70"), "" where it was not asked; `not_asked`, why.
    Only a part that cannot be opened, or is of another release, fails the stage: any other answer is about the
    description.
    """
    why_not = next(_obstacles(trial), "")
    if why_not:
        return {"planned": "", "not_asked": why_not}
    trial.events.doing("a plan for a GPU that is described")
    try:
        with GraphConvolution(trial.cudnn, _PROBLEM, json.dumps(H200).encode()) as convolution:
            found = convolution.plans("forward", at_most=1)
    except CudnnError as error:
        if "SUBLIBRARY" in error.name:
            fault = Fault(kind="cudnn", function=error.function, status=error.status, name=error.name, text=error.text)
            raise StageFailed(fault, {"planned": "", "not_asked": ""}) from error
        return {"planned": "", "not_asked": f"it answers {error.name} to a GPU that is only described"}
    return {"planned": found[0].label if found else "", "not_asked": "" if found else "it has no engine for that GPU"}


def _obstacles(trial: Trial) -> Iterator[str]:
    """Why it cannot be asked: what the engines need besides must be there, or they would fail for want of that."""
    if sys.platform != "linux":
        yield "only done on Linux"
    if trial.cudnn.raw_version < _SINCE:
        yield "cuDNN before 9.8 plans only for a GPU that is there"
    if trial.cudnn.preload_errors:
        yield "a part could not be opened: " + "; ".join(trial.cudnn.preload_errors.values())
    name = f"libcublasLt.so.{(trial.cudnn.cudart_version or 0) // 1000}"
    if not _is_opened(name, os.path.dirname(os.path.realpath(trial.cudnn.path))):
        yield f"{name}, which it needs for that, is not found from here"


def _is_opened(name: str, directory: str) -> bool:
    """Open cuBLAS for cuDNN, which ends the process where it cannot; by the loader's search, else as wheels lie."""
    for path in (name, *(os.path.join(directory, beside, name) for beside in _BESIDE)):
        try:
            ctypes.CDLL(path)
        except OSError:
            continue
        return True
    return False
