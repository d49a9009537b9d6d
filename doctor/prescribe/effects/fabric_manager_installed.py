"""The fabric manager is installed in a release."""

from __future__ import annotations

from compat.version import DriverRelease
from doctor.model.facts.seen import Seen
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import FabricManagerInstalled


def apply(effect: FabricManagerInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """It does not run before it is started."""
    driver = world.facts.driver._replace(fabric_release=Seen(DriverRelease.parse(effect.release), "a remedy"))
    return world._replace(facts=world.facts._replace(driver=driver))
