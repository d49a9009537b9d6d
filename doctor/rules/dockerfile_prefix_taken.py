"""A Dockerfile installs conda into a directory that has a conda: the installer stops, and with it the build."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The base image or an earlier line brought the first one."""
    told = dockerfile_of(facts)
    if not told.taken:
        return ok("no line installs conda twice")
    first = told.taken[0]
    return bad(
        f"{first.source} installs conda into {first.what}, which has one: the installer stops there",
        Advice(f"delete the installation at {first.source}: the conda of {told.base.image} is enough; or add -u"),
        evidence=(
            Evidence.at(first.source, f"the prefix {first.what}, without -u"),
            Evidence.at(told.base.source, f"FROM {told.base.image}"),
        ),
    )


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "an image without a known conda is not asked about"})
