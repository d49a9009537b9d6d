"""A library of the system is there."""

from __future__ import annotations

from doctor.model.facts.loader import FoundBy
from doctor.model.facts.seen import value_or
from doctor.prescribe.predicted_files import PredictedFiles
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import SystemLibraryInstalled


def apply(effect: SystemLibraryInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """In the first of the loader's default directories that is there."""
    searched = value_or(world.facts.loader.search, ())
    folders = (one.path for one in searched if one.why is FoundBy.DEFAULT and one.exists)
    folder = next(folders, "")
    if world.host is None or not folder:
        return world
    made = PredictedFiles(world.facts, world.matrix)
    made.library(world.host.real_path(folder), effect.soname)
    return world.with_changes(made.onto(world.changes))
