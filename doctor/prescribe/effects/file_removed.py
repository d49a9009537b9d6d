"""A file or link is gone."""

from __future__ import annotations

from doctor.host.lenient import real_path_of
from doctor.host.overlay import Overlay
from doctor.prescribe.world import World
from installers.effect import FileRemoved


def apply(effect: FileRemoved, world: World) -> World:
    """Nothing is reached under its name."""
    if world.host is None:
        return world
    folder, _, name = effect.path.rpartition("/")
    path = f"{real_path_of(Overlay(world.host, world.changes), folder)}/{name}"
    return world.with_changes(world.changes.without((path,)))
