"""Take a half-done installation back, by gpudoctor itself."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import RollBack
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def plan(need: RollBack, target: Target, matrix: Matrix) -> Plan:
    """The command that a person would look up."""
    left = Inverse(left="run the killed command again afterwards")
    argv = ("gpudoctor", "install", "rollback", need.installation)
    return Plan(f"undo installation {need.installation}", (Command(argv, "all files as before", inverse=left),), ())


METHOD = Method(RollBack, "an installation undone", plan)
