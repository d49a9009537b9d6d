"""What only a person can do."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand


def plan(need: Advice, target: Target, matrix: Matrix) -> Plan:
    """The sentence itself."""
    return Plan(need.text, (ByHand(need.text),), ())


METHOD = Method(Advice, "by hand", plan)
