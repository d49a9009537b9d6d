"""A module of somebody's own has a framework's name, and Python imports it in the framework's place."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """An error where PYTHONPATH leads to it; in the working directory it depends on where Python is started."""
    if facts.machine.kind != "live":
        raise NotApplicable("only a running machine shows what Python searches first")
    environment = environment_of(framework, facts)
    found = next((one for one in environment.hiding if one.package == framework.package), None)
    if found is None:
        return ok(f"nothing hides {framework.package}")
    where = f"PYTHONPATH leads to {found.path}" if found.by else f"{found.path} is in the working directory"
    when = "" if found.by else " for programs that are started here"
    return bad(
        f"{where}, which hides {framework.label}{when}",
        Advice(f"Rename {found.path}{' or remove its directory from PYTHONPATH' if found.by else ''}."),
        severity=Severity.ERROR if found.by else Severity.WARNING,
        evidence=(Evidence(f"Python imports it as {framework.path.rpartition('/')[2]}", file=found.path),),
        explains=import_symptoms(framework) if found.by else (),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
