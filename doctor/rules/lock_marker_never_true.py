"""A requirement or a source has a marker that holds on no platform: it never counts."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.marker import holds_somewhere
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Evaluate each marker for every platform and Python."""
    told = dockerfile_of(facts)
    marked = [(one.name, one.marker, one.source) for one in told.requirements if one.marker]
    marked += [(one.name, one.marker, one.source) for one in told.sources if one.marker]
    if not marked:
        raise NotApplicable("no requirement of a project has a marker")
    never = [(name, marker, place) for name, marker, place in marked if holds_somewhere(marker) is False]
    if not never:
        return ok("every marker holds on a platform")
    name, marker, place = never[0]
    return bad(
        f"the marker of {name} holds on no platform: {marker}",
        Advice(f"{place}: correct the marker: platform_machine is AMD64 on Windows, aarch64 on Linux, arm64 on macOS"),
        severity=Severity.WARNING,
        evidence=tuple(Evidence.at(at, f"{each} ; {text}") for each, text, at in never),
    )


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "a marker that cannot be read is not counted"})
