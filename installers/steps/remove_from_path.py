"""A directory to take out of a path-like variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import quote, said, set_in, variable
from installers.render.comments import comment
from installers.render.powershell import literal
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target


class RemoveFromPath(NamedTuple):
    """A variable, and the entry to take out however it is spelled."""

    name: str
    directory: str
    why: str
    set_in: str = ""
    left: str | None = None  # what the variable of this shell holds then; None where that is not known


def _title(step: RemoveFromPath) -> str:
    return f"remove {step.directory} from {step.name}"


def _bash(step: RemoveFromPath, target: Target) -> Lines:
    """The line that sets it, for good, then the shell available."""
    if not target.live and not step.set_in:
        return comment(f"in the image's Dockerfile, set {step.name} with an ENV line without {step.directory}")
    where = set_in(step.set_in, _title(step))
    if step.left is None:
        return where or comment(_title(step))
    name = variable(step.name)
    return (*where, f"export {name}={quote(step.left)}" if step.left else f"unset {name}")


def _powershell(step: RemoveFromPath, _: Target) -> Lines:
    """In the registry itself: GetEnvironmentVariable would put the values of `%NAME%` in for good.

    Setting a variable tells the programs that run; one that is not there serves for that.
    """
    bare = literal(step.directory.replace("/", "\\").rstrip("\\"))
    kept = "-split ';' | Where-Object { $_.TrimEnd('\\') -ne " + bare + " }) -join ';'"
    saved = f"($key.GetValue('{variable(step.name)}', '', 'DoNotExpandEnvironmentNames') {kept}"
    save = f"$key.SetValue('{step.name}', ({saved}), $key.GetValueKind('{step.name}'))"
    return (
        "$key = [Microsoft.Win32.Registry]::CurrentUser.OpenSubKey('Environment', $true)",
        f"if ($key.GetValueNames() -contains '{step.name}') {{ {save} }}",
        "$key.Close()",
        "[Environment]::SetEnvironmentVariable('GPUDOCTOR', $null, 'User')",
        f"$env:{variable(step.name)} = ($env:{variable(step.name)} {kept}",
    )


KIND = StepType(
    RemoveFromPath,
    title=_title,
    bash=Shell(_bash, said(_bash)),
    powershell=Shell(_powershell),
    configures=True,
)
