"""A plan as a bash script that a person can review and run: it stops at the first error and can be run again.

It works without gpudoctor, with what every distribution has. A user starts it, whose environment stays theirs: commands
that need root go through sudo. Where a copy may not write, the script says so before anything is changed. What a step
does there is in the step's own file.
"""

from __future__ import annotations

from hashlib import sha256

from installers.plan import Plan, Target
from installers.render.bash import quote
from installers.render.comments import comment
from installers.render.parts import beginning, first_lines, function_text, step_lines
from installers.step import Shell, Step, StepType, kind_of

_SUDO = (
    '[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || stop '
    '"some of these steps need root, and sudo is not installed: run this script as root"'
)
_ROOT = '[ "$(id -u)" -eq 0 ] || stop "some of these steps need root: run this script as root"'


def script(plan: Plan, target: Target) -> str:
    """The whole script, ending with a line feed."""
    shells = [(step, _shell(kind_of(step))) for step in plan.steps]
    first = first_lines(beginning(plan.steps), target, _shell)
    root = [_ROOT] if any(map(_needs_root, plan.steps)) else [_SUDO] if any(map(_calls_sudo, plan.steps)) else []
    steps = step_lines(plan, target, _shell, lambda title: f"say {quote(title)}")
    last = dict.fromkeys(line for _, shell in shells for line in shell.last)
    functions = dict.fromkeys(
        ["say.sh", *(["stop.sh"] if root else []), *(one for step, shell in shells for one in shell.functions(step))]
    )
    body = "\n".join([*dict.fromkeys([*first, *root]), *steps, "", "say 'Done.'", *last]) + "\n"
    head = "\n".join(("#!/usr/bin/env bash", *comment(f"{plan.summary}: written by gpudoctor. Read it, then run it.")))
    return f"{head}\n{function_text('head.sh')}\n{_staging(plan)}{chr(10).join(map(function_text, functions))}\n{body}"


def _shell(kind: StepType) -> Shell:
    return kind.bash


def _needs_root(step: Step) -> bool:
    """Commands call sudo by themselves; copies say where they may not write."""
    kind = kind_of(step)
    return kind.needs_root(step) and not kind.is_left(step) and not kind.fills(step) and not kind.runs


def _calls_sudo(step: Step) -> bool:
    kind = kind_of(step)
    return kind.runs and kind.needs_root(step) and not kind.is_left(step)


def _staging(plan: Plan) -> str:
    """A directory of the user's, one a plan: not in /tmp, where others could put files of the same names first."""
    if not any(kind_of(step).staged for step in plan.steps):
        return ""
    name = sha256(repr(plan).encode()).hexdigest()[:16]
    where = f"staging=${{GPUDOCTOR_STAGING:-${{XDG_CACHE_HOME:-$HOME/.cache}}/gpudoctor/scripts/{name}}}"
    return f'{where}\nmkdir -p -- "$staging"\n\n'
