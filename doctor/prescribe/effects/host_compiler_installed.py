"""A C++ compiler is there beside the others."""

from __future__ import annotations

from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import HostCompilerInstalled


def apply(effect: HostCompilerInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """A program whose name tells its version; what calls it is shown by a variable."""
    files = {**world.changes.files, effect.path: b"#!/bin/sh\n"}
    return world.with_changes(world.changes.without((effect.path,))._replace(files=files))
