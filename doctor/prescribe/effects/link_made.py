"""A symbolic link leads elsewhere."""

from __future__ import annotations

from doctor.host.optional_reads import real_path_of
from doctor.host.overlay import Overlay
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import LinkMade


def apply(effect: LinkMade, world: SimulatedMachine) -> SimulatedMachine:
    """Whatever was there is the link now."""
    if world.host is None:
        return world
    folder, _, name = effect.path.rpartition("/")
    path = f"{real_path_of(Overlay(world.host, world.changes), folder)}/{name}"
    links = {**world.changes.without((path,)).links, path: effect.text}
    return world.with_changes(world.changes.without((path,))._replace(links=links))
