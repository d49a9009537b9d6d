"""A plan's steps as lines for a terminal, in the shell of the machine that they are for.

What a person must do or read stands in comment lines, so that the whole can be pasted.
"""

from __future__ import annotations

import re

from installers.plan import Plan, Target
from installers.step import Lines, Shell, Step, StepType, kind_of

_PROGRAM = re.compile(r"& |[A-Za-z]:\\|(?!(?:foreach|if|try|while)\b)[a-z]")  # not Verb-Noun, $variable, [type]
_FAILED = "if ($LASTEXITCODE) { throw 'a command failed; the steps after it did not run' }"


def commands(plan: Plan, target: Target) -> Lines:
    """The lines to type: PowerShell on Windows, bash everywhere else."""
    lines = tuple(line for step in plan.steps for line in step_lines(step, target))
    if for_administrators(plan, target):
        return ("# in a PowerShell started as administrator:", *lines)  # what needs an administrator says so first
    return lines


def step_lines(step: Step, target: Target) -> Lines:
    """The lines to type for one step."""
    return _shell(kind_of(step), target).typed(step, target)


def told_lines(step: Step, target: Target) -> Lines:
    """What there is to type below the step's title, of which a comment would only say the same."""
    told = kind_of(step).told
    if told:
        return told(step)
    return chained(tuple(line for line in step_lines(step, target) if not line.startswith("#")), target)


def chained(lines: Lines, target: Target) -> Lines:
    """Lines to paste together, of which none runs after one that failed; in bash what is to be read comes first."""
    if len(lines) < 2:
        return lines
    if target.os_family == "windows":
        checked = [one for line in lines[:-1] for one in ((line, _FAILED) if _PROGRAM.match(line) else (line,))]
        return ("& {", "    $ErrorActionPreference = 'Stop'", *(f"    {line}" for line in (*checked, lines[-1])), "}")
    last = max((number for number, line in enumerate(lines) if not line.startswith("#")), default=0)
    before = [line for line in lines[:last] if not line.startswith("#")]
    read = (line for line in lines[:last] if line.startswith("#"))
    return (*dict.fromkeys(read), *(f"{line} &&" for line in before), *lines[last:])


def kept_first(plan: Plan, target: Target) -> Lines:
    """What a person types before the first step, to keep what the plan replaces."""
    return chained(tuple(line for step in plan.steps for line in kind_of(step).keeps(step, target)), target)


def undone_by(plan: Plan, target: Target) -> Lines:
    """What a person types to undo the plan, its last step first; the loader's cache is made again at the end.

    Of commands the last alone, which brings what was asked for: what came before it may have been there already.
    """
    from installers.steps.command import Command  # late: steps import this package

    asked = [step for step in plan.steps if isinstance(step, Command)][-1:]
    steps = [step for step in reversed(plan.steps) if not isinstance(step, Command) or step in asked]
    found = [kind_of(step).restores(step, target) for step in steps]
    again = dict.fromkeys(line for lines in found for line in lines if line.endswith("ldconfig"))
    lines = [line for lines in found for line in lines if line not in again]
    return chained((*lines, *again), target) if lines else ()


def undone_if_new(plan: Plan, target: Target) -> Lines:
    """What also undoes the plan where it brought these: repositories, keys, environments, other packages."""
    from installers.steps.command import Command  # late, as above

    asked = [step for step in plan.steps if isinstance(step, Command)][:-1]
    lines = dict.fromkeys(line for step in reversed(asked) for line in kind_of(step).restores(step, target))
    return tuple(line for line in lines if line not in undone_by(plan, target))


def for_administrators(plan: Plan, target: Target) -> bool:
    """Whether Windows lets nobody else carry out the plan."""
    return target.os_family == "windows" and not target.is_root and any(map(_needs_root, plan.steps))


def _shell(kind: StepType, target: Target) -> Shell:
    return kind.powershell if target.os_family == "windows" else kind.bash


def _needs_root(step: Step) -> bool:
    return kind_of(step).needs_root(step)
