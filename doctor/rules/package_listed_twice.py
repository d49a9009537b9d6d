"""Two metadata directories of one package are in one directory: pip and programs may read the wrong one."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Which of them is right, the framework's own files say."""
    listed = [one for one in environment_of(framework, facts).distributions.get() if one.name == framework.package]
    wheels = [one for one in listed if one.kind == "wheel"]
    first = next((one for one in wheels if not one.hidden_by), None)
    beside = [one for one in wheels if first and one.site == first.site and one.version != first.version]
    if not first or not beside:
        return ok(f"{framework.label} is listed once")
    both = [first, *beside]
    stale = [one for one in both if not _is_of(one, framework)]
    if len(stale) == len(both):
        text = f"Remove {' and '.join(one.metadata for one in both)}, then reinstall {framework.package}."
    else:
        text = f"Remove {' and '.join(one.metadata for one in stale)}: its files are {framework.label}."
    return bad(
        f"{framework.label} is listed twice, also as {' and '.join(one.version for one in stale)}: an upgrade was "
        "interrupted",
        Advice(text),
        severity=Severity.WARNING,
        evidence=tuple(Evidence.at(one.place, f"{one.name} {one.version}") for one in both),
    )


def _is_of(one: Distribution, framework: Framework) -> bool:
    """Whether it names the release; the name of a wheel need not name the build."""
    return one.version in {framework.version, framework.version.partition("+")[0]}


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
