"""Distributions come into an environment, with what they require."""

from __future__ import annotations

from doctor.model.facts.seen import value_or
from doctor.prescribe.distributions import coming_by, environment_at, with_installed
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import DistributionsInstalled


def apply(effect: DistributionsInstalled, world: SimulatedMachine) -> SimulatedMachine:
    """What is there at the release that is admitted stays as it is, unless it is reinstalled."""
    environment = environment_at(effect.python, world.facts)
    if environment is None:
        return world
    along, wanted = coming_by(effect, environment, world.facts, world.matrix)
    asked = {one.name for one in wanted}
    for one in (*along, *wanted):
        environment = environment_at(effect.python, world.facts) or environment
        there = {each.name: each.version for each in value_or(environment.distributions, ()) if not each.hidden_by}
        release = one.version.partition("+")[0]  # whatever its build
        stays = one.name not in asked and there.get(one.name, "?") == release
        if (there.get(one.name) != one.version and not stays) or (effect.anew and one.name in asked):
            world = with_installed(world, environment, one, effect.site)
    return world
