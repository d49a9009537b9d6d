"""What is there already, so that nothing is done for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.step import Shell, StepType, nothing

if TYPE_CHECKING:
    from installers.run import Run


class Already(NamedTuple):
    """One thing that a plan would bring otherwise."""

    what: str  # "the NVIDIA driver 580.95.05"
    why: str = ""


def _nothing(step: Already, run: Run) -> None:
    """There is nothing to do."""


KIND = StepType(
    Already,
    title=lambda step: f"{step.what} is there already",
    bash=Shell(nothing),
    powershell=Shell(nothing),
    apply=_nothing,
    is_note=True,
    configures=True,
)
