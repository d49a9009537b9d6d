"""Something only a person can do: a firmware setting, an edit in a file of their own, a restart."""

from __future__ import annotations

from compat.base.record import NamedTuple
from installers.render.bash import quote
from installers.render.comments import comment
from installers.render.powershell import said
from installers.step import Lines, Shell, StepType


class ByHand(NamedTuple):
    """What to do, the lines to type for it below."""

    text: str
    why: str = ""


def _told(step: ByHand) -> Lines:
    return tuple(step.text.splitlines()[1:])


KIND = StepType(
    ByHand,
    title=lambda step: step.text.splitlines()[0],
    told=_told,
    bash=Shell(
        lambda step, _: comment(step.text), lambda step, _: tuple(f"say {quote(f'   {line}')}" for line in _told(step))
    ),
    powershell=Shell(lambda step, _: comment(step.text), lambda step, _: said(_told(step))),
    configures=True,
)
