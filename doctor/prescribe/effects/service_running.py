"""A service of the driver runs."""

from __future__ import annotations

from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import ServiceRunning


def apply(effect: ServiceRunning, world: SimulatedMachine) -> SimulatedMachine:
    """The fabric manager, or the persistence daemon, which keeps every GPU ready; of others nothing is known."""
    facts = world.facts
    if "fabricmanager" in effect.unit:
        facts = facts._replace(driver=facts.driver._replace(fabric_manager=Seen("running", "a remedy")))
    elif "persistenced" in effect.unit:
        gpus = tuple(gpu._replace(persistence=Seen(True, "a remedy")) for gpu in value_or(facts.gpus, ()))
        facts = facts._replace(gpus=Seen(gpus, "a remedy"))
    return world._replace(facts=facts)
