"""What is good to know about a plan: nobody does anything for it, so that it has no number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.comments import comment
from installers.step import Shell, StepType, nothing

if TYPE_CHECKING:
    from installers.run import Run


class Note(NamedTuple):
    """One or two sentences."""

    text: str
    why: str = ""


def _nothing(step: Note, run: Run) -> None:
    """There is nothing to do."""


KIND = StepType(
    Note,
    title=lambda step: f"Note: {step.text}",
    told=nothing,
    bash=Shell(lambda step, _: comment(step.text), nothing),
    powershell=Shell(lambda step, _: comment(step.text), nothing),
    apply=_nothing,
    configures=True,
    is_note=True,
)
