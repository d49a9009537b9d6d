"""An NVSwitch system without its fabric manager."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from doctor.facts import Facts, Machine
from doctor.facts.seen import how, value_or
from doctor.finding import Answer, Evidence, bad, ok
from doctor.judging.conditions import need_own_kernel
from doctor.rule import NotApplicable, Rule
from doctor.subjects import MACHINE

_UNIT = "nvidia-fabricmanager"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """On HGX and DGX the service must run, in the driver's release, or CUDA answers 802 (system not yet initialized).

    Source: NVIDIA Fabric Manager User Guide. On Grace systems the switches' own trays may run it.
    """
    need_own_kernel(facts)
    part = [gpu for gpu in facts.gpus.get() if value_or(gpu.has_fabric, False)]
    if not part:
        raise NotApplicable("no GPU is part of an NVSwitch fabric")
    state = facts.driver.fabric_manager.get()
    if state == "running":
        return ok("the fabric manager runs")
    if state == "absent" and value_or(facts.system.machine, "") == "aarch64":
        raise NotApplicable("the fabric is managed outside this machine")
    return bad(
        f"the GPUs are joined by NVSwitch, and the fabric manager is {state}",
        Need("service", "running", "", _UNIT) if state == "stopped" else _install(facts),
        evidence=(
            Evidence("NVML", f"{part[0].label} is part of a fabric"),
            Evidence(how(facts.driver.fabric_manager), f"{_UNIT} is {state}"),
        ),
    )


def _install(facts: Facts) -> Need:
    release = value_or(facts.driver.module_release, None)
    exactly = f"{release}, exactly the driver's" if release else "exactly that of the driver"
    branch = f", or {_UNIT}-{release.branch}" if release else ""
    return Need(
        "by-hand",
        f"Install the fabric manager in release {exactly} (package {_UNIT}{branch}), then 'sudo systemctl enable --now "
        f"{_UNIT}'.",
    )


RULE = Rule("An NVSwitch system without its fabric manager", MACHINE, check)
