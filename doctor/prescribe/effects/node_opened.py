"""This user may open a device node."""

from __future__ import annotations

from doctor.facts.seen import Seen, value_or
from doctor.prescribe.world import World
from installers.effect import NodeOpened


def apply(effect: NodeOpened, world: World) -> World:
    """Through its group, which opens every node of that group, or through its mode."""
    driver = world.facts.driver
    opened = tuple(
        one._replace(openable=Seen(True, "a remedy"), mode=one.mode if effect.group else one.mode | 0o666)
        if one.path == effect.path or (effect.group and one.group == effect.group)
        else one
        for one in value_or(driver.nodes, ())
    )
    return world._replace(facts=world.facts._replace(driver=driver._replace(nodes=Seen(opened, "a remedy"))))
