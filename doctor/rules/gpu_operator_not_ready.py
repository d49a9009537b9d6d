"""The GPU operator has not validated this node."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_live

# What the validator writes on every node whose GPUs are for containers, in this order, also where a validation is
# skipped (`--skip-validation`). Source: NVIDIA/gpu-operator, cmd/nvidia-validator/main.go.
_WANTED = ("driver-ready", "toolkit-ready", "cuda-ready", "plugin-ready")
_FOR_MACHINES = frozenset({"vfio-pci-ready", "vgpu-manager-ready", "host-vgpu-manager-ready", "vgpu-devices-ready"})


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """By the files in /run/nvidia/validations, which the operator's validator writes one after the other."""
    need_live(facts)
    state = facts.system.gpu_operator.get()
    if not state.is_here:
        raise NotApplicable("this node has no GPU operator")
    if _FOR_MACHINES & set(state.ready):
        raise NotApplicable("the GPU operator gives this node's GPUs to virtual machines")
    missing = [one for one in _WANTED if one not in state.ready]
    if not missing:
        return ok("the GPU operator has validated driver, toolkit, CUDA and device plugin")
    return bad(
        f"the GPU operator has not validated this node: {', '.join(missing)} missing",
        Advice("Read the logs of the validator pod's init containers on this node: they show what it waits for."),
        severity=Severity.WARNING,
        evidence=(Evidence.of(facts.system.gpu_operator, f"ready: {', '.join(state.ready) or 'nothing'}"),),
    )


RULE = Rule(MACHINE, check, blocks_verdict=False)
