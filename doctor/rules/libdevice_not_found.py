"""A framework that compiles kernels at run time finds no libdevice, CUDA's library of mathematical functions."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.code_tools import needs_of_nvcc, severity_of, tools_of
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Look for nvvm/libdevice/libdevice.10.bc below every root that the framework searches."""
    tools = tools_of(framework, facts, matrix)
    found = tools.libdevice.get()
    if found:
        return ok(f"{framework.label} finds {found[0]}")
    said = tuple(Evidence(value, label=name) for name, value in tools.named)
    return bad(
        f"{framework.label} needs libdevice.10.bc to compile kernels, but did not find it",
        *needs_of_nvcc(framework, facts),
        severity=severity_of(framework),
        evidence=(
            *said,
            Evidence(f"{', '.join(tools.looked_in)}: no nvvm/libdevice/libdevice.10.bc", label="searched"),
        ),
        explains=(Symptom("ptxas-missing", framework.label),),
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
