"""Take a half-done installation back, by gpudoctor itself."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def serves(need: Need, target: Target) -> bool:
    """One that is named by its id."""
    return need.product == "rollback" and need.spec != ""


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """The command that a person would look up."""
    left = Inverse(left="what was half done is done again by the command that was killed")
    argv = ("gpudoctor", "install", "rollback", need.spec)
    return Plan(f"take installation {need.spec} back", (Command(argv, "all files as before", inverse=left),), ())


METHOD = Method("an installation taken back", serves, plan)
