"""The parts of a plan in a script: what a part needs is looked at where it begins, for an earlier part may bring it."""

from __future__ import annotations

from collections.abc import Iterator

from installers.step import Step, kind_of
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


def numbered(steps: tuple[Step, ...]) -> Iterator[tuple[int, Step]]:
    """Each with its number, from 1 on; 0 for one that says nothing, as the end of a part."""
    number = 0
    for step in steps:
        told = kind_of(step).title(step) != ""
        number += told
        yield (number if told else 0), step
