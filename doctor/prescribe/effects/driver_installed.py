"""The packages of a driver are there; its module runs after a restart."""

from __future__ import annotations

from doctor.prescribe.driver import installed, release_of
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import DriverInstalled


def apply(effect: DriverInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """Where the matrix knows no such branch, nothing changes."""
    release = release_of(effect.spec, world.matrix)
    return world if release is None else installed(world, release, effect.flavour)
