"""A lock file does not have what its project asks for: it was not locked again."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from compat.specifier import keeps
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import ProjectRequirement
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.marker import holds_somewhere
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

_COMMANDS = {"uv.lock": "uv lock", "poetry.lock": "poetry lock", "pdm.lock": "pdm lock"}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare each requirement with the locked releases, and the build of its index with theirs."""
    asked = dockerfile_of(facts).requirements
    if not asked:
        raise NotApplicable("no project was read beside a lock file")
    left = [one for one in asked if _is_open(one)]
    if not left:
        return ok("the lock file has what the project asks for")
    first = left[0]
    there = " and ".join(first.locked) or "nothing"
    build = f" from the index of {first.build}" if first.build else ""
    return bad(
        f"{first.lock} is out of date: the project asks for {first.name}{first.versions}{build}, {there} is locked",
        Advice(f"run `{_COMMANDS.get(first.lock, 'the tool that wrote the lock file')}`"),
        severity=Severity.WARNING,
        evidence=tuple(Evidence.at(one.source, f"{one.name}{one.versions}") for one in left),
    )


def _is_open(one: ProjectRequirement) -> bool:
    if holds_somewhere(one.marker) is not True:
        return False  # uv leaves out what no platform needs
    if not any(keeps(one.versions, version.partition("+")[0]) for version in one.locked):
        return True
    builds = {version.partition("+")[2] for version in one.locked} - {""}
    return bool(one.build and builds and one.build not in builds and one.build != "cpu")


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "a project that cannot be read asks for nothing"})
