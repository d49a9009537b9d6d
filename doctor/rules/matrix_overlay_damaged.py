"""Rows that the user's own refresh wrote cannot be read."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The shipped rows alone have judged everything else: that must not go unsaid."""
    if not matrix.has_overlay:
        raise NotApplicable("no data of gpudoctor matrix refresh exists here")
    problems = matrix.overlay_problems
    if not problems:
        return ok("the data of gpudoctor matrix refresh is complete")
    return bad(
        "some data of gpudoctor matrix refresh is damaged and was ignored",
        *(Advice(problem.hint.removeprefix("It is ignored. ")) for problem in problems),
        severity=Severity.WARNING,
        evidence=tuple(Evidence(str(problem), label="the user's own rows") for problem in problems),
    )


_NEVER = {Status.UNKNOWN: "rows that cannot be read are what it reports"}
RULE = Rule(MACHINE, check, blocks_verdict=False, never=_NEVER)
