"""A file or link is gone."""

from __future__ import annotations

from fnmatch import fnmatchcase

from doctor.host.optional_reads import real_path_of
from doctor.host.overlay import Overlay
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import FileRemoved


def apply(effect: FileRemoved, world: SimulatedMachine) -> SimulatedMachine:
    """Nothing is reached under its name, nor under those that go with it."""
    if world.host is None:
        return world
    host = Overlay(world.host, world.changes)
    folder, _, name = effect.path.rpartition("/")
    place = real_path_of(host, folder)
    with_it = [one for one in host.names(place) if fnmatchcase(one, effect.pattern)] if effect.pattern else []
    return world.with_changes(world.changes.without(f"{place}/{one}" for one in (name, *with_it)))
