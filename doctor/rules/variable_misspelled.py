"""An environment variable is one letter away from one that decides what is loaded or seen, and no program reads it."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """A hint only: another program may have a variable of that name."""
    if facts.configuration.near is None:
        raise NotApplicable("the names of all variables are not shown")
    found = facts.configuration.near.get()
    if not found:
        return ok("no variable is nearly named as one that decides what is loaded or seen")
    return bad(
        "; ".join(f"{one.name} is set: {one.meant} may be meant, and is read instead" for one in found),
        *(Advice(f"If {one.meant} is meant, rename {one.name}.") for one in found),
        severity=Severity.INFO,
        evidence=tuple(
            Evidence(f"{one.name} is not known to CUDA or a framework", label="environment") for one in found
        ),
    )


RULE = Rule(MACHINE, check, blocks_verdict=False)
