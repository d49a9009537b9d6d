"""A package of a plan compiles with nvcc when it is used, and the image has none."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, Unseen
from doctor.model.finding import Answer, Evidence, Severity, bad, ok, unknown
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Only a package that a row names counts, and only without the package that holds the compiled kernels."""
    uses = dockerfile_of(facts).uses
    if not uses:
        raise NotApplicable("no installed package is known to call nvcc at run time")
    without = [one for one in uses if isinstance(one.has_nvcc, Seen) and not one.has_nvcc.value]
    if without:
        first = without[0]
        return bad(
            f"{first.command} compiles kernels with nvcc at run time, but {first.base.image} has no nvcc",
            Advice(f"{first.base.source}: use a devel image, or install the package of compiled kernels"),
            severity=Severity.WARNING,
            evidence=tuple(Evidence.at(one.source, one.command) for one in without),
        )
    for one in uses:
        if isinstance(one.has_nvcc, Unseen):
            return unknown(one.has_nvcc.why)
    return ok("the image has nvcc")


RULE = Rule(MACHINE, check, blocks_verdict=False)
