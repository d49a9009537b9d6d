"""What only a person can do."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand


def serves(need: Need, target: Target) -> bool:
    """Everywhere."""
    return need.product == "by-hand"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """The sentence itself."""
    return Plan(need.spec, (ByHand(need.spec),), ())


METHOD = Method("by hand", serves, plan)
