"""The stage that has cuDNN plan a convolution for a GPU that is only described: it needs none, and opens every part.

Engines and heuristics are opened when something is to be computed, so that without a GPU a damaged one is mostly not
noticed. From 9.8 on cuDNN plans for a GPU whose properties it is told, and says which part it cannot open.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

from compat.version import ComputeCapability
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import CudnnError
from doctor.commands.verify.cudnn_trial.described import USUAL, described
from doctor.commands.verify.cudnn_trial.graph import PLANS, GraphConvolution
from doctor.commands.verify.cudnn_trial.outcome import PLANNING_FOR, Fault
from doctor.commands.verify.cudnn_trial.trial import StageFailed, Trial

_PLANNING = "a plan for a GPU that is described"
_SINCE = 90800  # CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION. Source: cudnn_graph.h of 9.10.2, NVIDIA's cudnn-frontend
_PROBLEM = Problem(dtype="fp32", x=(8, 64, 56, 56), w=(64, 64, 3, 3), padding=(1, 1), stride=(1, 1), dilation=(1, 1))
_BESIDE = ("", "../../cublas/lib", "../../cu13/lib")  # of NVIDIA's wheels: the RUNPATH of cuDNN's parts


def plans(trial: Trial) -> dict[str, Any]:
    """Let cuDNN plan plain convolutions for a GPU that need not be there.

    Facts: `planned`, the engine that it would take first ("engine 70"), "" where it was not asked; `not_asked`, why;
    `planned_for` (capability) and `engines`, how many it has by dtype and direction. A part that cannot be opened or is
    of another release, and a plain convolution without an engine, fail the stage; so does an answer that it has none
    for the GPU that was asked for. Any other answer is about the description.
    """
    capability = ComputeCapability.parse(trial.order.plan_for) if trial.order.plan_for else USUAL
    facts: dict[str, Any] = {
        "planned": "",
        "not_asked": next(_obstacles(trial), ""),
        "planned_for": str(capability),
        "engines": {},
    }
    if facts["not_asked"]:
        return facts
    for problem, direction in _asked(trial):
        name = f"{problem.dtype} {direction}"
        trial.events.doing(f"{PLANNING_FOR} {capability}: {name}" if trial.order.plan_for else _PLANNING)
        try:
            with GraphConvolution(trial.cudnn, problem, described(capability).text(capability)) as convolution:
                found = convolution.plans(direction, at_most=1 if trial.order.plan_for == "" else PLANS)
        except CudnnError as error:
            fault = Fault(kind="cudnn", function=error.function, status=error.status, name=error.name, text=error.text)
            if "SUBLIBRARY" in error.name or (trial.order.plan_for and "ARCH_MISMATCH" in error.name):
                raise StageFailed(fault, facts) from error
            return {**facts, "not_asked": f"it answers {error.name} to a GPU that is only described"}
        facts["engines"] = {**facts["engines"], name: len(found)}
        if not found and not trial.cudnn.is_jit_edition:
            text = f"no engine for a plain 3x3 convolution, {name}, on compute capability {capability}"
            raise StageFailed(Fault(kind="no-engine", function="", status=0, name="", text=text), facts)
        facts["planned"] = facts["planned"] or (found[0].label if found else "")
    return (
        facts if facts["planned"] else {**facts, "not_asked": "NVIDIA's JIT edition names no engine before it compiles"}
    )


def _asked(trial: Trial) -> Iterator[tuple[Problem, str]]:
    """One pass opens every part; who asks for a GPU wants to know of each."""
    if not trial.order.plan_for:
        yield _PROBLEM, "forward"
        return
    for dtype in ("fp32", "fp16"):
        yield from ((_PROBLEM._replace(dtype=dtype), direction) for direction in DIRECTIONS)


def _obstacles(trial: Trial) -> Iterator[str]:
    """Why it cannot be asked: what the engines need besides must be there, or they would fail without it."""
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
