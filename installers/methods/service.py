"""Start a system service now and at every start."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import ServiceRunning
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def serves(need: Need, target: Target) -> bool:
    """A unit that is named; on Linux."""
    return need.product == "service" and need.build != "" and target.os_family == "linux"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """systemd; a container's services are its host's."""
    argv = ("systemctl", "enable", "--now", need.build)
    place = "the container's host" if target.container else ""
    off = Inverse((("systemctl", "disable", "--now", need.build),))
    step = Command(argv, "now, and at every start", needs_root=True, place=place, inverse=off)
    return Plan(f"start {need.build}", (step,), () if place else (ServiceRunning(need.build),))


METHOD = Method("a system service", serves, plan)
