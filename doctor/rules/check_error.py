"""A probe of ours failed; a rule that fails becomes the same answer in `judge`."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.failure import Failure
from doctor.model.finding import Answer, Status, failed
from doctor.rules.shared.rule import Rule, Subjects

FAILURES: Subjects[Failure] = Subjects("failed check", lambda facts: facts.failures)


def check(failure: Failure, facts: Facts, matrix: Matrix) -> Answer:
    """Every failure is a finding: what it could not look at is otherwise easily taken for healthy."""
    return failed(failure)


_NEVER = {Status.OK: "its subjects are the failures", Status.UNKNOWN: "a failure happened"}
RULE = Rule(FAILURES, check, never=_NEVER)
