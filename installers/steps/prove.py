"""A command of gpudoctor's own at the end of a plan, which proves what was installed or sets it up.

It is no part of what is carried out: a card that is not there yet is no reason to take an installation back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from installers.render.bash import joined, quote
from installers.render.powershell import called, literal, said
from installers.step import Lines, Shell, StepType

if TYPE_CHECKING:
    from installers.plan import Target


_OURS = "gpudoctor"  # which need not be installed there


class Prove(NamedTuple):
    """One command, "gpudoctor verify --framework torch"; a script runs it where there is a gpudoctor."""

    argv: tuple[str, ...]
    why: str


def _bash(step: Prove, _: Target) -> Lines:
    return (joined(step.argv),)


def _bash_script(step: Prove, _: Target) -> Lines:
    line = joined(step.argv)
    if step.argv[0] != _OURS:
        return (f"as_user {line}",)
    return (
        f"if command -v {quote(step.argv[0])} >/dev/null 2>&1; then {line}; else say {joined((f'   {line}',))}; fi",
    )


def _powershell(step: Prove, _: Target) -> Lines:
    return (called(step.argv),)


def _powershell_script(step: Prove, target: Target) -> Lines:
    [line] = _powershell(step, target)
    if step.argv[0] != _OURS:
        return (line, f"if ($LASTEXITCODE -ne 0) {{ throw {literal(f'{step.why}: no')} }}")
    [told] = said((line,))
    return (f"if (Get-Command {literal(step.argv[0])} -ErrorAction SilentlyContinue) {{ {line} }} else {{ {told} }}",)


KIND = StepType(
    Prove,
    title=lambda step: step.why,
    reason=lambda _: "",
    bash=Shell(_bash, _bash_script, functions=lambda step: () if step.argv[0] == _OURS else ("as_user.sh",)),
    powershell=Shell(_powershell, _powershell_script),
    configures=True,
)
