"""A framework was never published as a wheel for this Python."""

from __future__ import annotations

from compat.build import name_of
from compat.matrix import Matrix, known
from compat.need import Advice, Need
from compat.row import FrameworkRow
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.builds import build_row, distribution_of, nearest_and_newest, need_of, other_builds
from doctor.rules.shared.gpu_code import code_for
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Look the minor version up among the wheels of the release.

    A warning for what is installed, as it may be a build of one's own; what is only planned is not available.
    """
    is_known = framework.is_planned and matrix.has(framework.package)
    if traits_of(framework.package).runs_on and not is_known:
        raise NotApplicable(f"{framework.package} has no separate builds")
    found = distribution_of(framework, facts)
    if found is None or found.kind != "wheel":
        raise NotApplicable(f"{framework.label} was not installed from a wheel")
    python = environment_of(framework, facts).python
    minor = ".".join(python.get().split(".")[:2])
    row = build_row(framework, facts, matrix)
    published: tuple[str, ...] = known(row, "python")
    if not published or minor in published or f"{minor}t" in published:
        return ok(f"{framework.label} is published for Python {minor}")
    return bad(
        f"{framework.label} was never published for Python {minor}, only for {', '.join(published)}",
        *_needs(framework, facts, matrix, published),
        severity=Severity.ERROR if framework.is_planned else Severity.WARNING,
        evidence=(
            Evidence.of(python, f"Python {python.get()}"),
            Evidence(f"wheels for Python {', '.join(published)}", label=f"matrix, {row.id}"),
        ),
    )


def _needs(framework: Framework, facts: Facts, matrix: Matrix, published: tuple[str, ...]) -> tuple[Need, ...]:
    """A release with a wheel for this Python and code for its GPUs, or a Python that this release has a wheel for."""
    rows: tuple[FrameworkRow, ...] = ()
    if not framework.is_cpu_build:
        has_code = code_for(value_or(facts.gpus, ()), framework, facts)
        fitting = other_builds(framework, facts, matrix, lambda row: row.targets is None or has_code(row))
        rows = nearest_and_newest(tuple(row for row in fitting if row.python is not None))
    usual = [one for one in published if not one.endswith("t")]
    by_hand = f"create an environment with Python {(usual or list(published))[-1]} for {framework.package}"
    instead = f", or use {name_of(rows[0])}" if rows else ""
    return (*(need_of(row, framework, facts) for row in rows), Advice(by_hand + instead))


RULE = Rule(
    FRAMEWORKS,
    check,
    blocks_verdict=False,  # what is installed runs or does not: the knowledge of file names decides nothing
)
