"""A framework that compiles kernels at run time finds no ptxas."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.code_tools import needs_of_nvcc, severity_of, tools_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Look for one in every directory that the framework searches."""
    tools = tools_of(framework, facts, matrix)
    found = tools.ptxas.get()
    if found:
        return ok(f"{framework.label} finds {found[0].path} ({found[0].why})")
    return bad(
        f"{framework.label} compiles kernels with ptxas, but did not find it",
        *needs_of_nvcc(framework, facts),
        severity=severity_of(framework),
        evidence=(Evidence(f"PATH, {', '.join(tools.looked_in)}: no ptxas", label="searched"),),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
