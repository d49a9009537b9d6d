"""The libraries of another driver are gone: those beside them load, and NVML with them."""

from __future__ import annotations

from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.driver import started
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import LibrariesRemoved


def apply(effect: LibrariesRemoved, world: SimulatedMachine) -> SimulatedMachine:
    """By directory and release: ldconfig links what is left."""
    driver, folder = world.facts.driver, effect.path.rpartition("/")[0]
    release = effect.path.partition(".so.")[2]
    libraries = value_or(driver.libraries, ())
    gone = [one for one in libraries if str(one.release) == release and one.path.rpartition("/")[0] == folder]
    stems = {one.stem for one in gone if one.loads}
    left = tuple(
        one._replace(loads=one.loads or (one.stem in stems and one.path.rpartition("/")[0] == folder))
        for one in libraries
        if one not in gone
    )
    facts = world.facts._replace(driver=driver._replace(libraries=Seen(left, "a remedy")))
    return started(world._replace(facts=facts))
