"""A planned framework was never published for this machine, or the version is unknown."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import Advice
from compat.row import FrameworkRow
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import build_row, distribution_of, need_of, platform_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import PLANNED_FRAMEWORKS

_CUDA_BUILD = re.compile(r"cu\d+")


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Look for a row of the release on this platform, and of torch's build; UNKNOWN where no row has the release."""
    if traits_of(framework.package).runs_on and not matrix.has(framework.package):
        raise NotApplicable(f"no builds of {framework.package} are known")
    found = distribution_of(framework, facts)
    if found and found.kind == "conda":
        raise NotApplicable(f"{framework.label} comes from a channel of conda's")
    platform, public = platform_of(facts), framework.version.partition("+")[0]
    rows = matrix.framework_rows(framework.package, public)
    here = [row for row in rows if platform.os_family in row.os and platform.arch in row.arch]
    if (
        here
        and platform.arch == "x86_64"
        and _is_of_index(framework)
        and value_or(framework.build, "") not in {row.build for row in here}
    ):
        return _not_as_this_build(framework, here, facts)
    if here or not rows:
        return ok(f"{framework.label} is published for {platform}: {build_row(framework, facts, matrix).id}")
    elsewhere = sorted({f"{system} {arch}" for row in rows for system in row.os for arch in row.arch})
    return bad(
        f"{framework.label} was never published for {platform}, only for {', '.join(elsewhere)}",
        Advice(f"run {framework.package} on one of {', '.join(elsewhere)}, or build it from source"),
        evidence=tuple(
            Evidence(f"for {', '.join(row.os)} on {', '.join(row.arch)}", label=f"matrix, {row.id}") for row in rows
        ),
    )


def _is_of_index(framework: Framework) -> bool:
    """Whether its rows are all that its index has: those of torch for CUDA on x86_64."""
    return framework.package == "torch" and _CUDA_BUILD.fullmatch(value_or(framework.build, "")) is not None


def _not_as_this_build(framework: Framework, here: list[FrameworkRow], facts: Facts) -> Answer:
    asked = int(value_or(framework.build, "cu0")[2:])
    builds = [row for row in here if _CUDA_BUILD.fullmatch(row.build)] or here
    builds.sort(key=lambda row: abs(int(re.sub(r"\D", "", row.build) or 0) - asked))
    return bad(
        f"{framework.label} was never published: {framework.version.partition('+')[0]} exists for "
        f"{', '.join(sorted(row.build for row in builds))}",
        need_of(builds[0], framework, facts),
        evidence=tuple(Evidence(f"built for {row.build}", label=f"matrix, {row.id}") for row in builds),
    )


RULE = Rule(PLANNED_FRAMEWORKS, check)
