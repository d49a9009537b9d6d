"""This user may open a device node."""

from __future__ import annotations

from doctor.model.facts.driver import Nvml
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import NodeOpened

_NO_PERMISSION = 4  # NVML_ERROR_NO_PERMISSION, nvml.h: what it answers a user who may not open the nodes
_WORKS = Nvml("libnvidia-ml.so.1", "ok", "", 0)


def apply(effect: NodeOpened, world: SimulatedMachine) -> SimulatedMachine:
    """Through its group, which opens every node of that group, or through its mode."""
    driver = world.facts.driver
    opened = tuple(
        one._replace(openable=Seen(True, "a remedy"), mode=one.mode if effect.group else one.mode | 0o666)
        if one.path == effect.path or (effect.group and one.group == effect.group)
        else one
        for one in value_or(driver.nodes, ())
    )
    driver = driver._replace(nodes=Seen(opened, "a remedy"))
    if value_or(driver.nvml, _WORKS).code == _NO_PERMISSION and all(value_or(one.openable, True) for one in opened):
        driver = driver._replace(nvml=Seen(_WORKS, "a remedy"))
    return world._replace(facts=world.facts._replace(driver=driver))
