"""An environment variable has another value."""

from __future__ import annotations

from doctor.prescribe.variables import with_variable
from doctor.prescribe.world import World
from installers.effect import VariableSet


def apply(effect: VariableSet, world: World) -> World:
    """The variable, and whatever is found through it."""
    return with_variable(world, effect.name, effect.value)
