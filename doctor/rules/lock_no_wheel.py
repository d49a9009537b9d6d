"""A lock file selects a package for a platform that none of its locked files is for."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_LISTED_AT_MOST = 5


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """List the packages: the installer stops at the first one."""
    lacking = dockerfile_of(facts).no_wheels
    if not lacking:
        return ok("every locked package has a file for the platform")
    python = next((value_or(one.python, "") for one in value_or(facts.environments, ())), "")
    system = f"{value_or(facts.system.family, '')} {value_or(facts.system.machine, '')}"
    names = ", ".join(one.what for one in lacking[:_LISTED_AT_MOST])
    more = len(lacking) - _LISTED_AT_MOST
    return bad(
        f"no locked wheel for {system} and Python {python}: {names}" + (f" and {more} more" if more > 0 else ""),
        Advice(f"leave {lacking[0].what.partition(' ')[0]} out there by a marker, or lock a release with such a wheel"),
        evidence=tuple(Evidence.at(one.source, one.what) for one in lacking[:_LISTED_AT_MOST]),
    )


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "a package without a list of files is not asked about"})
