"""Restart what must start again: the machine, WSL, or the container's host."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import RestartMachine
from installers.effect import Restarted
from installers.method import Method
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command


def plan(need: RestartMachine, target: Target, matrix: Matrix) -> Plan:
    """One step."""
    what = "wsl" if target.wsl else "container" if target.container else "machine"
    return Plan("restart", (again(target),), (Restarted(what),))


def again(target: Target) -> Step:
    """The step by which it starts again."""
    if target.wsl:
        return Command(("wsl", "--shutdown"), "stops every WSL distribution", place="Windows")
    if target.container:
        return ByHand("restart the container; if that does not help, its host")
    if target.os_family == "windows":
        return Command(("Restart-Computer",), "save your work first", inverse=NOTHING_TO_TAKE_BACK)
    argv = ("systemctl", "reboot")
    return Command(argv, "save your work first", needs_root=True, inverse=NOTHING_TO_TAKE_BACK)


METHOD = Method(RestartMachine, "a reboot", plan)
