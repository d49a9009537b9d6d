"""A Dockerfile sets LD_LIBRARY_PATH in a way that has no effect."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileLine
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.conditions import variable
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_NAME = "LD_LIBRARY_PATH"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Whether directories exist is for those rules to say that see the image."""
    wrong = dockerfile_of(facts).paths
    if wrong:
        return bad(
            f"{wrong[0].source} sets {_NAME} without effect: {wrong[0].what}",
            Advice("; ".join(map(_instead, wrong))),
            severity=Severity.WARNING,
            evidence=tuple(Evidence.at(one.source, one.what) for one in wrong),
        )
    setting = variable(facts, _NAME)
    if setting is None:
        raise NotApplicable(f"the Dockerfile does not set {_NAME}")
    return ok(f"{setting.set_in} sets {_NAME} correctly")


def _instead(one: DockerfileLine) -> str:
    is_line = one.instead.startswith("ENV ")
    return f"{one.source}: {one.instead}" if is_line else f"{one.source}: write it with {one.instead}"


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "all its lines were read"})
