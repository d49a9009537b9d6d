"""Let the loader read its directories again: `ldconfig`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import sudo
from installers.step import COMMANDS, Lines, Shell, StepType, nothing
from installers.steps.command import Command, Inverse

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run

_ARGV = ("ldconfig",)


class RefreshLoader(NamedTuple):
    """It has no settings of its own."""

    why: str
    needs_root: bool = True


def _apply(step: RefreshLoader, run: Run) -> None:
    again = Inverse((_ARGV,), afterwards=True)
    run.command(Command(_ARGV, "the loader then finds the libraries", step.needs_root, inverse=again))


def _bash(step: RefreshLoader, target: Target) -> Lines:
    return (f"{sudo(target, needs_root=step.needs_root)}ldconfig",)


KIND = StepType(
    RefreshLoader,
    title=lambda _: "update the loader's cache",
    bash=Shell(_bash, lambda *_: _ARGV),
    powershell=Shell(nothing),  # Windows has no such cache
    apply=_apply,
    runs=True,
    restores=lambda step, target: _bash(step, target) if target.os_family == "linux" else (),
    taken_back=lambda _: COMMANDS,
    configures=True,
)
