"""A Dockerfile brings a Python, and installs its frameworks into another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

if TYPE_CHECKING:
    from compat.platform_row import SystemRow


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Compare the Python that packages bring with that of the system, whose pip installs the frameworks."""
    pips = dockerfile_of(facts).pips
    rows: dict[str, SystemRow] = {row.id: row for row in matrix.rows("platform", "systems")}
    asked = [one for one in pips if one.other_python and one.system in rows]
    if not asked:
        raise NotApplicable("no line brings a Python beside that of the system")
    for one in asked:
        packages = rows[one.system].pythons or {}
        own = next((each for each, names in packages.items() if names.startswith(("python3-", "python3 "))), "")
        other = one.other_python
        if other and own and other.what != own and any(matrix.has(name) for name in one.names):
            return bad(
                f"{one.source} installs for Python {own}, the system's own; python{other.what} gets nothing",
                Advice(
                    f"{one.source}: RUN python{other.what} -m venv /opt/venv, and /opt/venv/bin/pip in place of pip"
                ),
                severity=Severity.WARNING,
                evidence=(
                    Evidence.at(one.source, f"pip install {' '.join(one.names)}"),
                    Evidence.at(other.source, f"installs python{other.what}"),
                ),
            )
    return ok("pip is that of the Python that the lines bring")


RULE = Rule(MACHINE, check, never={Status.UNKNOWN: "a system without a row is not asked about"})
