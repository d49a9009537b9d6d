"""A plan as a PowerShell script that a person can review and run: it stops at the first error and can be run again.

It works without gpudoctor, from Windows PowerShell 5.1 on (about_Automatic_Variables, Expand-Archive, Get-FileHash).
What a step does there is in the step's own file.
"""

from __future__ import annotations

from hashlib import sha256

from installers.plan import Plan, Target
from installers.render import for_administrators
from installers.render.comments import comment
from installers.render.parts import beginning, first_lines, function_text, step_lines
from installers.render.powershell import literal
from installers.step import Shell, StepType, kind_of


def script(plan: Plan, target: Target) -> str:
    """The whole script, ending with a line feed."""
    shells = [(step, _shell(kind_of(step))) for step in plan.steps]
    first = dict.fromkeys(first_lines(beginning(plan.steps), target, _shell))
    steps = step_lines(plan, target, _shell, lambda title: f"Write-Output {literal(title)}")
    last = dict.fromkeys(line for _, shell in shells for line in shell.last)
    functions = dict.fromkeys(one for step, shell in shells for one in shell.functions(step))
    body = "\n".join([*first, *steps, "", "Write-Output 'Done.'", *last])
    head = "\n".join(comment(f"{plan.summary}: written by gpudoctor. Read it, then run it."))
    head += "\n# Run it in a PowerShell started as administrator." if for_administrators(plan, target) else ""
    texts = "".join(f"\n{function_text(one)}" for one in functions)
    return f"{head}\n{function_text('head.ps1')}{_staging(plan)}{texts}\n{body}\n"


def _shell(kind: StepType) -> Shell:
    return kind.powershell


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
