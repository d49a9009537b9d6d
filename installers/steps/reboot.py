"""Reboot the machine, so that a new module and new libraries are used together."""

from __future__ import annotations

from compat.base.record import NamedTuple
from installers.render.comments import comment
from installers.step import Shell, StepType, nothing


class Reboot(NamedTuple):
    """What to do, in one line; a person chooses when."""

    text: str = "reboot"
    why: str = ""


KIND = StepType(
    Reboot,
    title=lambda step: str(step.text),
    told=nothing,
    bash=Shell(lambda step, _: comment(step.text), nothing, last=("say 'Reboot now.'", "exit 4")),
    powershell=Shell(lambda step, _: comment(step.text), nothing, last=("Write-Output 'Reboot now.'", "exit 4")),
    configures=True,
)
