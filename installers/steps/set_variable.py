"""An environment variable to set for later processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, said, set_in, variable
from installers.render.image_variables import in_image
from installers.render.powershell import literal
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target


class SetVariable(NamedTuple):
    """A name and its value."""

    name: str
    value: str
    why: str
    set_in: str = ""  # file and line that sets it now, "~/.bashrc, line 118"; "" where that is not known


def _bash(step: SetVariable, target: Target) -> Lines:
    if not target.live and not step.set_in:
        return in_image(step.name, step.value)
    return (*set_in(step.set_in, f"set {step.name}"), f"export {variable(step.name)}={quote(step.value)}")


def _powershell(step: SetVariable, _: Target) -> Lines:
    """For later processes of the user, and for the shell available."""
    value = literal(step.value)
    lasting = f"[Environment]::SetEnvironmentVariable({literal(step.name)}, {value}, 'User')"
    return (lasting, f"$env:{variable(step.name)} = {value}")


KIND = StepType(
    SetVariable,
    title=lambda step: f"set {step.name} to {step.value}",
    bash=Shell(_bash, said(_bash)),
    powershell=Shell(_powershell),
    configures=True,
)
