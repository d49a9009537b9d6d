"""A project names a package index for a package that it does not require itself: its tool ignores that."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Sources count for direct dependencies only, and an explicit index only for sources that name it."""
    sources = dockerfile_of(facts).sources
    if not sources:
        raise NotApplicable("no project names a package index for one package")
    idle = [one for one in sources if not one.is_used and (not one.name or matrix.has(one.name))]
    if not idle:
        return ok("every named package index has an effect")
    first = idle[0]
    what = (
        f"the index {first.registry} for {first.name} has no effect: the project does not require {first.name} itself"
        if first.name
        else f"the explicit index {first.registry} has no effect: no package names it as its source"
    )
    advice = (
        f"add {first.name} to the dependencies in {first.source}, then lock it again"
        if first.name
        else f"name {first.registry} as the source of a package in {first.source}, then lock it again"
    )
    return bad(
        what,
        Advice(advice),
        severity=Severity.WARNING,
        evidence=tuple(Evidence.at(one.source, f"the source of {one.name or one.registry}") for one in idle),
    )


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "a project that cannot be read has no sources"})
