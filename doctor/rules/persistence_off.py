"""Persistence mode is off on a server with several GPUs."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import StartService
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import need_own_kernel
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_UNIT = "nvidia-persistenced"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Without it each first program waits for every card to be initialised (NVIDIA, "Driver Persistence")."""
    need_own_kernel(facts)
    servers = [gpu for gpu in facts.gpus.get() if isinstance(gpu.ecc_enabled, Seen) and gpu.ecc_enabled.value]
    if len(servers) < 2:
        raise NotApplicable("this is not a server with several data-center GPUs")
    off = [gpu for gpu in servers if not value_or(gpu.persistence, True)]
    if not off:
        return ok("persistence mode is on")
    return bad(
        f"persistence mode is off on {len(off)} of {len(servers)} GPUs: programs start slowly",
        StartService(_UNIT),
        severity=Severity.INFO,
        evidence=tuple(Evidence.of(gpu.persistence, f"{gpu.label}: off") for gpu in off),
    )


RULE = Rule(MACHINE, check, blocks_verdict=False)
