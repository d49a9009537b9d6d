"""Probe and judge again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.powershell import said
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from compat.need import Need

_LINES: Lines = ("gpudoctor check",)


class Check(NamedTuple):
    """What must be true afterwards."""

    why: str
    expects: tuple[str, ...]  # codes of the findings that must be gone
    finds: Need | None = None  # what must be there: "cudnn", "cuda", "driver" or a distribution; None is nothing new


KIND = StepType(
    Check,
    title=lambda _: "check the machine again",
    bash=Shell(lambda *_: _LINES, lambda *_: ("say '   gpudoctor check'",)),
    powershell=Shell(lambda *_: _LINES, lambda *_: said(_LINES)),
    configures=True,
)
