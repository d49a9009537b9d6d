"""The parts of a plan in a script: what a part needs is looked at where it begins, for an earlier part may bring it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compat.base.paths import text_beside
from installers.plan import Plan, Target
from installers.render.comments import comment
from installers.step import Shell, Step, StepType, kind_of
from installers.steps.unless import Unless


def beginning(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps before the first part that may be passed over."""
    return steps[: next((number for number, step in enumerate(steps) if isinstance(step, Unless)), len(steps))]


def behind(step: Step, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps from a beginning or an end of a part to the next one; none behind any other step."""
    if not isinstance(step, Unless):
        return ()
    at = next(number for number, one in enumerate(steps) if one is step)
    return beginning(steps[at + 1 :])


def first_lines(steps: tuple[Step, ...], target: Target, shell: Callable[[StepType], Shell]) -> list[str]:
    """Return what a script looks at before the first of some steps."""
    return [line for step in steps for line in shell(kind_of(step)).first(step, target)]


def step_lines(
    plan: Plan, target: Target, shell: Callable[[StepType], Shell], say: Callable[[str], str]
) -> Iterator[str]:
    """Yield what a script does, step by step; `say` makes the line that prints a text."""
    for number, step in numbered(plan.steps):
        kind = kind_of(step)
        if number:
            yield from ("", *comment(kind.reason(step)), say(f"{number}. {kind.title(step)}"))
        elif kind.title(step):
            yield from ("", say(kind.title(step)))
        yield from shell(kind).script(step, target)
        yield from dict.fromkeys(first_lines(behind(step, plan.steps), target, shell))


def numbered(steps: tuple[Step, ...]) -> Iterator[tuple[int, Step]]:
    """Each with its number, from 1 on; 0 for a note, and for one that says nothing, as the end of a part."""
    number = 0
    for step in steps:
        told = kind_of(step).title(step) != "" and not kind_of(step).is_note
        number += told
        yield (number if told else 0), step


def function_text(file: str) -> str:
    """Return what a file of `functions/` adds to a script."""
    return text_beside(__file__, f"functions/{file}")
