"""A symbolic link, in place of what is there."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, sudo
from installers.render.powershell import literal
from installers.step import FILES, Lines, Shell, StepType
from installers.text_file import directory_of

if TYPE_CHECKING:
    from installers.plan import Target
    from installers.run import Run


class MakeLink(NamedTuple):
    """Where, and what it says."""

    path: str
    text: str  # what it points to
    why: str
    needs_root: bool = False


def _apply(step: MakeLink, run: Run) -> None:
    from installers.transaction import Item  # late: printing needs none of it

    run.put([Item(os.path.expanduser(step.path), partial(os.symlink, step.text))])


def _line(step: MakeLink) -> str:
    return f"ln -sfn -- {quote(step.text)} {quote(step.path)}"


def _bash(step: MakeLink, target: Target) -> Lines:
    return (f"{sudo(target, needs_root=step.needs_root)}{_line(step)}",)


def _powershell(step: MakeLink, _: Target) -> Lines:
    return (f"New-Item -ItemType SymbolicLink -Force -Path {literal(step.path)} -Target {literal(step.text)}",)


KIND = StepType(
    MakeLink,
    title=lambda step: f"create the symlink {step.path} to {step.text}",
    bash=Shell(_bash, lambda step, _: (_line(step),)),
    powershell=Shell(_powershell),
    apply=_apply,
    writes=lambda step: (directory_of(step.path),),
    taken_back=lambda _: FILES,
)
