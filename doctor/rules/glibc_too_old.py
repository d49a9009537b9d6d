"""The C library is older than a framework's wheel was built for."""

from __future__ import annotations

from compat.build import release_key
from compat.matrix import Matrix, Uncovered, known
from compat.need import Advice
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Place, Seen
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.builds import build_row, distribution_of, import_symptoms
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import FRAMEWORKS, need_linux


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare glibc with what the framework's libraries ask for and with the manylinux tag of its wheel (PEP 600)."""
    need_linux(facts)
    if traits_of(framework.package).runs_on:
        raise NotApplicable(f"{framework.package} has no separate builds")
    found = distribution_of(framework, facts)
    if found is None or found.kind != "wheel":
        raise NotApplicable(f"{framework.label} was not installed from a wheel")
    asked = _asked(framework, facts, matrix)
    if not asked:
        raise NotApplicable(f"{framework.label} needs no glibc")
    floor = max(asked.values(), key=release_key)
    glibc = facts.system.glibc.get()
    if release_key(glibc) >= release_key(floor):
        return ok(f"glibc {glibc} is at least {floor}")
    return bad(
        f"{framework.label} was built for glibc {floor} or newer; this system has {glibc}",
        Advice(f"use a newer distribution, or a container image with glibc {floor} or newer"),
        evidence=(
            Evidence.of(facts.system.glibc, f"glibc {glibc}"),
            *(Evidence.at(source, f"{framework.package} needs glibc {version}") for source, version in asked.items()),
        ),
        explains=import_symptoms(framework),
    )


def _asked(framework: Framework, facts: Facts, matrix: Matrix) -> dict[str | Place, str]:
    """What asks for which glibc: its own libraries, and its wheel's tag, which speaks of all of the wheel.

    Raises Uncovered where neither tells.
    """
    asked: dict[str | Place, str] = {}
    if isinstance(framework.glibc, Seen):
        asked[framework.glibc.how] = framework.glibc.value
    try:
        row = build_row(framework, facts, matrix)
        floor: str = known(row, "glibc")
    except Uncovered:
        if not asked:
            raise
        return asked
    return asked | ({f"matrix, {row.id}": floor} if floor else {})


RULE = Rule(
    FRAMEWORKS,
    check,
    blocks_verdict=False,  # a build that no row covers and that does not load says so itself, as text
)
