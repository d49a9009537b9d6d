"""An NVSwitch system without its fabric manager."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallFabricManager, Need, StartService
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.conditions import CUDA_DOES_NOT_START, need_own_kernel
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

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
        return ok("the fabric manager is running")
    if state == "absent" and value_or(facts.system.machine, "") == "aarch64":
        raise NotApplicable("another machine manages the fabric")
    other = _other_release(facts)
    release = f" {other}" if other else ""
    why = (
        (f"; the driver is {value_or(facts.driver.module_release, '')}, and works only with its own version")
        if other
        else ""
    )
    return bad(
        f"NVSwitch connects the GPUs, but the fabric manager{release} is {state}{why}",
        StartService(_UNIT) if state == "stopped" and not other else _install(facts),
        evidence=(
            Evidence(f"{part[0].label} is part of a fabric", label="NVML"),
            Evidence.of(facts.driver.fabric_manager, f"{_UNIT} is {state}"),
            *((Evidence.of(facts.driver.fabric_release, f"{_UNIT} {other}"),) if other else ()),
        ),
        explains=CUDA_DOES_NOT_START,
    )


def _other_release(facts: Facts) -> str:
    """The release of the installed fabric manager where it is not the driver's; "" where it is, or is not known."""
    installed, driver = facts.driver.fabric_release, facts.driver.module_release
    differs = isinstance(installed, Seen) and isinstance(driver, Seen) and installed.value != driver.value
    return str(installed.get()) if differs else ""


def _install(facts: Facts) -> Need:
    """Exactly the driver's release; as text where that is not known."""
    release = value_or(facts.driver.module_release, None)
    if release:
        return InstallFabricManager(str(release))
    return Advice(f"Install exactly the driver's version of {_UNIT}, then enable and start it.")


RULE = Rule(MACHINE, check)
