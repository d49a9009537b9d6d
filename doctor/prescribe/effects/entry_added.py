"""A directory stands first in a path-like variable."""

from __future__ import annotations

from doctor.model.facts.seen import value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.prescribe.variables import with_variable
from installers.effect import EntryAdded


def apply(effect: EntryAdded, world: SimulatedMachine) -> SimulatedMachine:
    """Before what the variable has already."""
    separator = ";" if value_or(world.facts.system.family, "linux") == "windows" else ":"
    before = world.environ.get(effect.name, "")
    return with_variable(world, effect.name, separator.join(filter(None, (effect.entry, before))))
