"""A Dockerfile installs with a pip or uv that refuses or is missing: the build stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.matrix import Matrix
from compat.need import Advice
from compat.specifier import accepts
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfilePip
from doctor.model.finding import Answer, Evidence, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

if TYPE_CHECKING:
    from compat.platform_row import PipRow

_KNOWS_OPTION = "23.0.1"  # Source: pip's changelog, --break-system-packages


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Look for commands that no pip or uv carries out, then compare each with what its pip accepts (PEP 668)."""
    for line in dockerfile_of(facts).refused:
        return bad(
            f"{line.source} stops the build: {line.what}",
            Advice(f"{line.source}: {line.instead}"),
            evidence=(Evidence.at(line.source, line.what),),
        )
    pips = dockerfile_of(facts).pips
    rows: dict[str, PipRow] = {row.id: row for row in matrix.rows("platform", "pips")}
    asked = [(one, rows[one.system]) for one in pips if one.system in rows]
    if not asked:
        raise NotApplicable("no line installs with the pip of a system whose pip is known")
    for one, row in asked:
        if one.breaks and not one.is_upgraded and accepts(f"<{_KNOWS_OPTION}", row.pip):
            return _bad(
                one, f"pip {row.pip} of {one.system} has no option --break-system-packages", "leave the option out"
            )
        if row.refuses and not (one.breaks or one.is_allowed):
            why = f"pip of {one.system} installs only into an environment: externally-managed-environment"
            return _bad(one, why, "RUN python3 -m venv /opt/venv and ENV PATH=/opt/venv/bin:$PATH before it")
    return ok("pip accepts every line")


def _bad(one: DockerfilePip, why: str, instead: str) -> Answer:
    evidence = Evidence.at(one.source, f"pip install {' '.join(one.names)}".strip())
    return bad(f"{one.source} stops the build: {why}", Advice(f"{one.source}: {instead}"), evidence=(evidence,))


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "a system without a row is not asked about"})
