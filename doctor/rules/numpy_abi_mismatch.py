"""A framework does not work with the NumPy that is installed: mostly, it is compiled for the ABI of NumPy 1."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallPackage
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.builds import import_symptoms, installed
from doctor.rules.shared.pins import keeps
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import LISTED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Hold what is installed against what the binaries of this release were compiled for."""
    row = matrix.abi(framework.package, framework.version, facts.system.family.get())
    if row is None or "numpy" not in row.needs:
        raise NotApplicable(f"no release of another package is known that {framework.label} cannot be loaded beside")
    environment = environment_of(framework, facts)
    environment.distributions.get()
    there = {one.name: one for one in installed(environment) if one.name in row.needs}
    if not there:
        raise NotApplicable(f"{' and '.join(row.needs)} is not installed")
    wrong = [one for one in there.values() if not keeps(row.needs[one.name], one.version)]
    if not wrong:
        return ok(f"{framework.label} has the {', '.join(row.needs)} that it needs")
    return bad(
        f"{framework.label} needs {_listed(row.needs)}; with {wrong[0].name} {wrong[0].version} {row.effect}",
        *(InstallPackage(one.name, row.needs[one.name], environment.interpreter) for one in wrong),
        severity=Severity(row.severity),
        evidence=(
            *(Evidence.at(one.place, f"{one.name} {one.version}") for one in wrong),
            Evidence(f"{row.package} {row.versions}: {row.source}", label=f"matrix, {row.id}"),
        ),
        explains=import_symptoms(framework) if row.severity == Severity.ERROR.value else (),
    )


def _listed(needs: dict[str, str]) -> str:
    return ", ".join(f"{name}{specifier}" for name, specifier in needs.items())


RULE = Rule(LISTED_FRAMEWORKS, check)
