"""A Dockerfile leaves downloads in a layer of the image."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """What a later RUN deletes stays in the layer before it."""
    left = tuple(dict.fromkeys(dockerfile_of(facts).caches))  # a line may leave them twice
    if not left:
        return ok("no line leaves package lists or downloads")
    return bad(
        f"{left[0].source} leaves {left[0].what} in the image",
        Advice("; ".join(f"{one.source}: add {one.instead}" for one in left)),
        severity=Severity.INFO,
        evidence=tuple(Evidence.at(one.source, one.what) for one in left),
    )


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "all its lines were read"})
