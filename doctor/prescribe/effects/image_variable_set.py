"""The configuration of an image sets a variable for every process of its containers."""

from __future__ import annotations

from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.prescribe.variables import with_variable
from installers.effect import ImageVariableSet


def apply(effect: ImageVariableSet, world: SimulatedMachine) -> SimulatedMachine:
    """The variable, and whatever is found through it."""
    return with_variable(world, effect.name, effect.value or None)
