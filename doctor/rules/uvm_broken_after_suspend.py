"""CUDA cannot start since the machine slept, though NVML works: nvidia_uvm does not answer."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ReloadKernelModule
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, bad, ok
from doctor.rules.shared.conditions import CUDA_UNKNOWN, cuda_start, cuda_start_evidence
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """By cuInit's own answer, 999: NVML needs no nvidia_uvm, CUDA does."""
    start = cuda_start(facts)
    if start.code != CUDA_UNKNOWN:
        return ok("CUDA does not return error 999")
    return bad(
        f"CUDA cannot start (error {start.code}, {start.error}), while NVML works: nvidia_uvm does not answer, "
        "as after suspend",
        ReloadKernelModule("nvidia_uvm"),
        evidence=cuda_start_evidence(facts),
    )


RULE = Rule(MACHINE, check, blocks_verdict=False)
