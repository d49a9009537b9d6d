"""A directory stands in a path-like variable no more."""

from __future__ import annotations

from doctor.model.facts.seen import value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.prescribe.variables import with_variable, without_entry
from installers.effect import EntryRemoved


def apply(effect: EntryRemoved, world: SimulatedMachine) -> SimulatedMachine:
    """The rest of the variable; a variable with nothing left in it is none."""
    said = next((one.value for one in value_or(world.facts.configuration.variables, ()) if one.name == effect.name), "")
    value = world.environ.get(effect.name, said)
    kept = without_entry(value, effect.entry, value_or(world.facts.system.family, "linux"))
    return with_variable(world, effect.name, kept or None)
