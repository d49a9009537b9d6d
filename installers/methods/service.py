"""Start a system service now and at every start."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import StartService
from installers.effect import ServiceRunning
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def plan(need: StartService, target: Target, matrix: Matrix) -> Plan:
    """systemd; a container's services are its host's."""
    argv = ("systemctl", "enable", "--now", need.unit)
    place = "the container's host" if target.container else ""
    off = Inverse((("systemctl", "disable", "--now", need.unit),))
    step = Command(argv, "now, and at every boot", needs_root=True, place=place, inverse=off)
    return Plan(f"start {need.unit}", (step,), () if place else (ServiceRunning(need.unit),))


METHOD = Method(StartService, "a system service", plan, on_linux)
