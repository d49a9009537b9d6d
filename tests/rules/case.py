"""Ask one rule about one machine, with the shipped matrix."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.finding import Answer, Status
from doctor.rules.shared.engine import judge, load_rules

MATRIX = Matrix()
_WORST_FIRST = (Status.BAD, Status.UNKNOWN, Status.OK, Status.NOT_APPLICABLE)


def answers(code: str, facts: Facts) -> tuple[Answer, ...]:
    """What the rule with this code says of every subject."""
    return judge(facts, MATRIX, load_rules([code]))


def answer(code: str, facts: Facts) -> Answer:
    """Its worst answer (BAD, then UNKNOWN, OK, NOT_APPLICABLE)."""
    return min(answers(code, facts), key=lambda one: _WORST_FIRST.index(one.kind))
