"""nvcc is there, and the headers that every CUDA source needs are not."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallToolkit, Need
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, value_or
from doctor.model.facts.toolkit import Toolkit
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import TOOLKITS


def check(toolkit: Toolkit, facts: Facts, matrix: Matrix) -> Answer:
    """Judge only what can compile: a runtime-only toolkit, or an nvcc wheel brought for its ptxas, is healthy."""
    if not isinstance(toolkit.nvcc, Seen):
        raise NotApplicable(f"{toolkit.label} has no nvcc")
    if toolkit.has_headers.get():
        return ok(f"the headers are in {toolkit.path}")
    named = {value_or(name.leads_to, "") for name in value_or(facts.toolkit.names, ())} - {""}
    if toolkit.path not in named and toolkit.kind in {"conda", "wheels"}:
        raise NotApplicable(
            f"no variable, symlink or PATH entry points to {toolkit.label}, so it is not used by default"
        )
    return bad(
        f"{toolkit.label} has nvcc but no cuda_runtime.h: it cannot compile",
        _need(toolkit),
        severity=Severity.WARNING,
        evidence=(
            Evidence.of(toolkit.nvcc, toolkit.nvcc.value),
            Evidence.of(toolkit.has_headers, "no such file"),
        ),
    )


def _need(toolkit: Toolkit) -> Need:
    """The package that holds the headers, as each kind of installation calls it."""
    packages = {
        "conda": "install the conda package cuda-cudart-dev of the same CUDA version",
        "wheels": "install the wheel nvidia-cuda-runtime of the same CUDA version",
        "distribution": "install the distribution's package of CUDA headers (nvidia-cuda-dev on Debian and Ubuntu)",
    }
    if toolkit.kind in packages:
        return Advice(packages[toolkit.kind])
    cuda = getattr(toolkit.cuda, "value", "")
    return InstallToolkit(f"=={cuda}.*" if cuda else "", toolkit.path)


RULE = Rule(TOOLKITS, check, blocks_verdict=False)
