"""A library of the system is there."""

from __future__ import annotations

from doctor.facts.loader import FoundBy
from doctor.facts.seen import value_or
from doctor.prescribe.foreseen import Foreseen
from doctor.prescribe.world import World
from installers.effect import SystemLibraryInstalled


def apply(effect: SystemLibraryInstalled, world: World) -> World:
    """In the first of the loader's default directories that is there."""
    searched = value_or(world.facts.loader.search, ())
    folders = (one.path for one in searched if one.why is FoundBy.DEFAULT and one.exists)
    folder = next(folders, "")
    if world.host is None or not folder:
        return world
    made = Foreseen(world.facts, world.matrix)
    made.library(world.host.real_path(folder), effect.soname)
    return world.with_changes(made.onto(world.changes))
