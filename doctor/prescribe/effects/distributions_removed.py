"""Distributions leave an environment."""

from __future__ import annotations

from doctor.prescribe.distributions import environment_at, with_removed
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import DistributionsRemoved


def apply(effect: DistributionsRemoved, world: SimulatedMachine) -> SimulatedMachine:
    """With all their files, shared ones too."""
    for name in effect.names:
        environment = environment_at(effect.python, world.facts)
        if environment is not None:
            world, _ = with_removed(world, environment, name, effect.site)
    return world
