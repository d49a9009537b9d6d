"""Where a plan waits for a person, mostly for a restart: the next call goes on behind it.

A script ends here, and is run again. What `--apply` carries out ends here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote
from installers.render.comments import comment
from installers.render.powershell import said
from installers.step import Shell, StepType

if TYPE_CHECKING:
    from compat.need import Need


class Pause(NamedTuple):
    """What a person does, and what must be true before it goes on."""

    text: str  # "reboot"
    why: str = ""
    expects: tuple[str, ...] = ()  # as in Check
    finds: Need | None = None  # likewise
    is_reboot: bool = False  # it is a restart of the machine, which a program can carry out


_AGAIN = "then run this script again: it continues from here"

KIND = StepType(
    Pause,
    title=lambda step: f"{step.text}, then run the same command again",
    bash=Shell(
        lambda step, _: comment(f"{step.text}; then continue with the next steps"),
        lambda step, _: (f"say {quote(f'   {step.text}, {_AGAIN}')}", "exit 4"),
    ),
    powershell=Shell(
        lambda step, _: comment(f"{step.text}; then continue with the next steps"),
        lambda step, _: (*said((f"{step.text}, {_AGAIN}",)), "exit 4"),
    ),
    configures=True,
)
