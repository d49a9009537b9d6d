"""A kernel module is not loaded by itself any more."""

from __future__ import annotations

from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ModuleKeptAway


def apply(effect: ModuleKeptAway, world: SimulatedMachine) -> SimulatedMachine:
    """From the next start on."""
    return world._replace(kept_away=world.kept_away | {effect.name})
