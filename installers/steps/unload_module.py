"""A module of a cluster (Environment Modules, Lmod) that is loaded, and shall not be.

Source: module(1), "module unload". `module` is a function of the user's shell: no process of ours can call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, said
from installers.step import Lines, Shell, StepType, nothing

if TYPE_CHECKING:
    from installers.plan import Target


class UnloadModule(NamedTuple):
    """Its name as `module list` has it."""

    module: str  # "cudnn/8.9.7"
    why: str


def _bash(step: UnloadModule, _: Target) -> Lines:
    return (f"module unload {quote(step.module)}",)


KIND = StepType(
    UnloadModule,
    title=lambda step: f"unload the module {step.module}",
    bash=Shell(_bash, said(_bash)),
    powershell=Shell(nothing),  # clusters run Linux
    configures=True,
)
