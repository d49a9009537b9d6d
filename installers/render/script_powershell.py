"""A plan as a PowerShell script that a person can review and run: it stops at the first error and can be run again.

It works without gpudoctor, from Windows PowerShell 5.1 on (about_Automatic_Variables, Expand-Archive, Get-FileHash).
What a step does there is in the step's own file.
"""

from __future__ import annotations

from hashlib import sha256

from installers.plan import Plan, Target
from installers.render import for_administrators
from installers.render.comments import comment
from installers.render.parts import beginning, behind, numbered
from installers.render.powershell import literal
from installers.step import Lines, Step, kind_of

_HEAD = """\
# Where Windows refuses scripts: powershell -NoProfile -ExecutionPolicy Bypass -File THIS-FILE.ps1
# Stops at the first error; running it again does no harm. What is fetched and unpacked lies in a directory of its own
# ($env:GPUDOCTOR_STAGING names another one), and what is replaced is kept there, below "replaced".
Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
"""


def script(plan: Plan, target: Target) -> str:
    """The whole script, ending with a line feed."""
    shells = [(step, kind_of(step).powershell) for step in plan.steps]
    first = dict.fromkeys(_first(beginning(plan.steps), target))
    steps = [line for number, step in numbered(plan.steps) for line in _step(number, step, plan, target)]
    last = dict.fromkeys(line for _, shell in shells for line in shell.last)
    functions = dict.fromkeys(one for step, shell in shells for one in shell.functions(step))
    body = "\n".join([*first, *steps, "", "Write-Output 'Done.'", *last])
    head = "\n".join(comment(f"{plan.summary}: written by gpudoctor, to be read, then run."))
    head += "\n# Run it in a PowerShell that was started as administrator." if for_administrators(plan, target) else ""
    return f"{head}\n{_HEAD}{_staging(plan)}{''.join(f'{chr(10)}{one}' for one in functions)}\n{body}\n"


def _staging(plan: Plan) -> str:
    """A directory of the user's, one a plan."""
    if not any(kind_of(step).staged for step in plan.steps):
        return ""
    name = sha256(repr(plan).encode()).hexdigest()[:16]
    return (
        "$staging = $env:GPUDOCTOR_STAGING\n"
        f"if (-not $staging) {{ $staging = Join-Path $env:LOCALAPPDATA 'gpudoctor\\scripts\\{name}' }}\n"
        "$staging = (New-Item -ItemType Directory -Force -Path $staging).FullName\n"
        "$replaced = Join-Path $staging ('replaced\\' + (Get-Date -Format 'yyyyMMddTHHmmss'))\n"
    )


def _first(steps: tuple[Step, ...], target: Target) -> list[str]:
    """What is looked at before the first of them."""
    return [line for step in steps for line in kind_of(step).powershell.first(step, target)]


def _step(number: int, step: Step, plan: Plan, target: Target) -> Lines:
    kind = kind_of(step)
    lines = (*kind.powershell.script(step, target), *dict.fromkeys(_first(behind(step, plan.steps), target)))
    if not number:
        return lines
    told = f"Write-Output {literal(f'{number}. {kind.title(step)}')}"
    return ("", *comment(kind.reason(step)), told, *lines)
