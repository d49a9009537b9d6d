"""A GPU admits other processes than before."""

from __future__ import annotations

from doctor.model.facts.seen import Seen, Unseen
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ComputeModeSet


def apply(effect: ComputeModeSet, world: SimulatedMachine) -> SimulatedMachine:
    """The mode of that card alone."""
    gpus = world.facts.gpus
    if isinstance(gpus, Unseen):
        return world
    mode = Seen(effect.mode, "a remedy")
    cards = tuple(one._replace(compute_mode=mode) if one.number == effect.gpu else one for one in gpus.value)
    return world._replace(facts=world.facts._replace(gpus=Seen(cards, gpus.how)))
