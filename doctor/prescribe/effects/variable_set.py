"""An environment variable has another value."""

from __future__ import annotations

from doctor.host.overlay import Overlay
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.prescribe.variables import with_variable
from installers.effect import VariableSet

_NO_USER_SITE = "PYTHONNOUSERSITE"


def apply(effect: VariableSet, world: SimulatedMachine) -> SimulatedMachine:
    """The variable, and whatever is found through it."""
    world = with_variable(world, effect.name, effect.value)
    return _without_the_users_own(world) if effect.name == _NO_USER_SITE else world


def _without_the_users_own(world: SimulatedMachine) -> SimulatedMachine:
    """The environments as they are without the user's own packages, which hid others."""
    known: tuple[Environment, ...] = value_or(world.facts.environments, ())
    if world.host is None:
        return world
    from doctor.probes import environment

    host = Overlay(world.host, world.changes)
    for one in known:
        found = value_or(environment.look(host, (one.interpreter,)), ())
        if len(found) == 1 and isinstance(found[0].distributions, Seen):
            world = world.with_environment(found[0]._replace(asked_by=one.asked_by, prefix=one.prefix))
    return world
