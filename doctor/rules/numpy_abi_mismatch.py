"""A framework does not work with the NumPy that is installed: mostly, it is compiled for the ABI of NumPy 1."""

from __future__ import annotations

from contextlib import suppress

from compat.matrix import Matrix, Uncovered
from compat.need import InstallPackage
from compat.specifier import keeps
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.builds import build_row, import_symptoms, installed
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import LISTED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Hold what is installed against what the binaries of this release were compiled for."""
    rows = matrix.abi(framework.package, framework.version, facts.system.family.get())
    row = next((one for one in rows if "numpy" in one.needs), None)
    if row is None:
        raise NotApplicable(f"no package is known that conflicts with {framework.label}")
    environment = environment_of(framework, facts)
    environment.distributions.get()
    wanted = row.needs["numpy"]
    there = next((one for one in installed(environment) if one.name == "numpy"), None)
    if there is None:
        raise NotApplicable("numpy is not installed")
    if keeps(wanted, there.version):
        return ok(f"{framework.label} has a fitting numpy")
    return bad(
        f"{framework.label} needs numpy{wanted}; with numpy {there.version} {row.effect}",
        InstallPackage("numpy", _asked(framework, there.version, facts, matrix) or wanted, environment.interpreter),
        severity=Severity(row.severity),
        evidence=(
            Evidence.at(there.place, f"numpy {there.version}"),
            Evidence(f"{row.package} {row.versions}: {row.source}", label=f"matrix, {row.id}"),
        ),
        explains=import_symptoms(framework) if row.severity == Severity.ERROR.value else (),
    )


def _asked(framework: Framework, version: str, facts: Facts, matrix: Matrix) -> str:
    """What its metadata asks of NumPy, which is often narrower than its ABI; "" where that takes this one."""
    with suppress(Uncovered):
        asked = (build_row(framework, facts, matrix).pins or {}).get("numpy", "")
        return "" if not asked or keeps(asked, version) else asked
    return ""


RULE = Rule(LISTED_FRAMEWORKS, check)
