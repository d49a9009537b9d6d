"""The driver's device nodes are there."""

from __future__ import annotations

from doctor.model.facts.seen import Seen, value_or
from doctor.prescribe.driver import nodes
from doctor.prescribe.simulated_machine import SimulatedMachine
from installers.effect import NodesMade


def apply(effect: NodesMade, world: SimulatedMachine) -> SimulatedMachine:
    """One for each card, and the driver's own; those that are there keep their modes."""
    facts = world.facts
    there = value_or(facts.driver.nodes, ())
    cards = len(value_or(facts.pci, ())) or len(value_or(facts.gpus, ())) or 1
    new = tuple(one for one in nodes(cards) if one.path not in {node.path for node in there})
    driver = facts.driver._replace(nodes=Seen(tuple(sorted((*there, *new), key=lambda one: one.path)), "a remedy"))
    loaded = value_or(driver.modules_loaded, ())
    if "nvidia" in loaded:
        driver = driver._replace(modules_loaded=Seen((*loaded, *({"nvidia_uvm"} - {*loaded})), "a remedy"))
    return world._replace(facts=facts._replace(driver=driver))
