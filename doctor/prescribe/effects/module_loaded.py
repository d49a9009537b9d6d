"""A kernel module is loaded."""

from __future__ import annotations

from doctor.prescribe.driver import started
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ModuleLoaded


def apply(effect: ModuleLoaded, world: SimulatedMachine) -> SimulatedMachine:
    """The driver starts with it, unless another one holds the card or the module is refused."""
    held = {card.driver for card in getattr(world.facts.pci, "value", ())} & {"nouveau", "nova_core", "vfio-pci"}
    return world if held or not effect.name.startswith("nvidia") else started(world)
