"""Shared memory is large enough."""

from __future__ import annotations

from doctor.model.facts.seen import Seen
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import SharedMemoryGiven


def apply(effect: SharedMemoryGiven, world: SimulatedMachine) -> SimulatedMachine:
    """Its size is what was given."""
    system = world.facts.system._replace(shm_bytes=Seen(effect.size_bytes, "a remedy"))
    return world._replace(facts=world.facts._replace(system=system))
