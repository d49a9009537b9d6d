"""An environment variable has another value."""

from __future__ import annotations

from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.prescribe.variables import with_variable
from installers.effect import VariableSet


def apply(effect: VariableSet, world: SimulatedMachine) -> SimulatedMachine:
    """The variable, and whatever is found through it."""
    return with_variable(world, effect.name, effect.value)
