"""A package of a plan replaces the framework that an earlier line or the base image brings."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import PLANNED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A line that names the framework itself means to replace it; a requirement of another package does not."""
    if framework.pinned_at is None:
        raise NotApplicable("no line installs it")
    if not (framework.in_place_of and framework.brought_by):
        return ok(f"{framework.pinned_at} requires {framework.label}")
    kept = framework.in_place_of.replace(" ", "==")
    asks = f", which requires {framework.asked_as}," if framework.asked_as else ""
    return bad(
        f"{framework.brought_by}{asks} replaces {framework.in_place_of} with {framework.label}",
        Advice(f"{framework.pinned_at}: add {kept.partition('+')[0]}: then pip keeps it or stops"),
        severity=Severity.WARNING,
        evidence=(Evidence.at(framework.pinned_at, f"{framework.brought_by} replaces {framework.in_place_of}"),),
    )


RULE = Rule(PLANNED_FRAMEWORKS, check, never={Status.UNKNOWN: "packages without data are not checked"})
