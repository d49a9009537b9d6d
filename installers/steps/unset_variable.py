"""An environment variable to remove."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import said, set_in, variable
from installers.render.comments import comment
from installers.render.image_variables import cannot_unset
from installers.render.powershell import literal
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target


class UnsetVariable(NamedTuple):
    """Its name, and where it is set now."""

    name: str
    why: str
    set_in: str = ""


def _bash(step: UnsetVariable, target: Target) -> Lines:
    if not target.live and not step.set_in:
        return comment(f"in the image's Dockerfile: {cannot_unset(step.name)}")
    return (*set_in(step.set_in, f"delete {step.name}"), f"unset {variable(step.name)}")


def _powershell(step: UnsetVariable, _: Target) -> Lines:
    return (
        f"[Environment]::SetEnvironmentVariable({literal(step.name)}, $null, 'User')",
        f"Remove-Item -ErrorAction SilentlyContinue Env:{variable(step.name)}",
    )


KIND = StepType(
    UnsetVariable,
    title=lambda step: f"unset {step.name}",
    bash=Shell(_bash, said(_bash)),
    powershell=Shell(_powershell),
    configures=True,
)
