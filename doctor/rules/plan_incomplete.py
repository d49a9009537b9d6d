"""A part of a plan could not be read: a script, a file that was not found, a release that nothing names."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Status, ok, unknown
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_LISTED_AT_MOST = 5


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """List the lines that may install a framework and do not say which."""
    told = dockerfile_of(facts)
    left = tuple(dict.fromkeys((*told.unjudged, *told.unread)))
    if not left:
        return ok("every line with an installation was read")
    more = len(left) - _LISTED_AT_MOST
    listed = "; ".join(f"{one.source} {one.what}" for one in left[:_LISTED_AT_MOST])
    return unknown(f"not read: {listed}" + (f"; and {more} more" if more > 0 else ""))


RULE = Rule(MACHINE, check, never={Status.BAD: "the unread part may be correct"})
