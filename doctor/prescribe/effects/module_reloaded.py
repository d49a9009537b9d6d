"""A kernel module was taken out and loaded again: what CUDA answers then shows when it starts."""

from __future__ import annotations

from doctor.model.facts.seen import Unseen
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ModuleReloaded


def apply(effect: ModuleReloaded, world: SimulatedMachine) -> SimulatedMachine:
    """CUDA opens nvidia_uvm when it starts, so that its earlier answer counts no more."""
    if effect.name != "nvidia_uvm":
        return world
    start = Unseen("CUDA was not started again after nvidia_uvm was reloaded")
    driver = world.facts.driver._replace(cuda_start=start)
    return world._replace(facts=world.facts._replace(driver=driver))
