"""An environment variable is set no more."""

from __future__ import annotations

from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.prescribe.variables import with_variable
from installers.effect import VariableUnset


def apply(effect: VariableUnset, world: SimulatedMachine) -> SimulatedMachine:
    """The variable, and whatever was found through it."""
    return with_variable(world, effect.name, None)
