"""CUDA cannot start since the machine slept, though NVML works: nvidia_uvm does not answer."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ReloadKernelModule
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, bad, ok
from doctor.rules.shared.conditions import CUDA_UNKNOWN, cuda_start, cuda_start_evidence, on_host
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_RELOAD = "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm, with every program that uses the GPU stopped"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """By cuInit's own answer, 999: NVML needs no nvidia_uvm, CUDA does.

    In a container, other rules come first and explain it: no /dev/nvidia-uvm (no-device-nodes), one that may not be
    opened (device-permissions, container-lost-gpu-cgroup), libraries of another driver (driver-library-mismatch).
    """
    start = cuda_start(facts)
    if start.code != CUDA_UNKNOWN:
        return ok("CUDA does not return error 999")
    return bad(
        f"CUDA cannot start (error {start.code}, {start.error}), while NVML works: nvidia_uvm does not answer, "
        "as after suspend",
        on_host(facts, ReloadKernelModule("nvidia_uvm"), _RELOAD),
        evidence=cuda_start_evidence(facts),
    )


RULE = Rule(MACHINE, check, blocks_verdict=False)
