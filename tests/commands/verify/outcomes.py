"""Outcomes of trials for tests: one that passed, and what is different where something went wrong."""

from __future__ import annotations

from typing import Any

from doctor.commands.verify.cudnn_trial.outcome import LEVELS, STAGES, Ending, Fault, Outcome, Row, Stage
from tests.machine import CUDNN_DIR

FACTS: dict[str, dict[str, Any]] = {
    "load": {"preloaded": [f"{CUDNN_DIR}/libcudnn_graph.so.9"], "preload_errors": {}},
    "version": {"version": "9.10.2", "raw_version": 91002, "cudart_version": 12090, "max_device_version": 1210},
    "parts": {"parts": {"graph": "", "ops": "", "cnn": "", "adv": ""}},
    "plans": {"planned": "engine 70", "not_asked": ""},
    "mapped": {"cudnn": [f"{CUDNN_DIR}/libcudnn.so.9"], "called": []},
    "device": {"gpu": "NVIDIA H200", "compute_capability": "9.0", "memory": "cupy", "extra": "cuda12"},
    "handle": {"free_bytes": 1 << 30},
}
DONE = Ending("exited", 0, "", "", "")


def fault(kind: str, name: str = "", text: str = "", status: int = 0, function: str = "") -> Fault:
    """Why a stage failed."""
    return Fault(kind, function, status, name, text)


def row(status: str = "right", **changes: Any) -> Row:
    """One algorithm of one pass."""
    return Row("forward", "IMPLICIT_GEMM", "fp32", 2, "3x3", status, 0.0, 0.0, 0)._replace(**changes)


def outcome(
    until: str = "", *, level: str = "conv", rows: tuple[Row, ...] = (), ending: Ending = DONE, **failed: Any
) -> Outcome:
    """A trial whose stages passed; `until` names the last that was begun, and `failed` says how it ended."""
    names = LEVELS[level]
    begun = names[: STAGES.index(until) + 1] if until else names
    stages = [Stage(name, "passed", 0.01, None, "", FACTS.get(name, {})) for name in begun]
    if failed:
        stages[-1] = stages[-1]._replace(**failed)
    return Outcome(f"{CUDNN_DIR}/libcudnn.so.9", 0, level, tuple(stages), rows, ending)


def failing(until: str, why: Fault, level: str = "conv", **changes: Any) -> Outcome:
    """A trial that ended with a failed stage."""
    return outcome(until, level=level, status="failed", fault=why, **changes)


def killed(until: str, number: int, stderr: str = "", doing: str = "") -> Outcome:
    """A trial that a signal ended."""
    return outcome(until, status="cut-off", ending=Ending("signal", number, until, doing, stderr))
