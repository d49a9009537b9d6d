"""The driver is older than the CUDA toolkit that would be used needs: what it builds does not start here."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen
from doctor.model.facts.toolkit import Toolkit
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.cards import newer_driver
from doctor.rules.shared.driver_floor import start_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import TOOLKITS, need_where


def check(toolkit: Toolkit, facts: Facts, matrix: Matrix) -> Answer:
    """Only the toolkit whose nvcc is called without being asked for by its path is judged."""
    need_where(facts, "driver")
    if not isinstance(toolkit.nvcc, Seen):
        raise NotApplicable(f"{toolkit.label} has no nvcc: it cannot compile")
    name = facts.toolkit.chosen
    if name is None or name.leads_to.get() != toolkit.path:
        raise NotApplicable(f"{toolkit.label} is not chosen by a variable, PATH or /usr/local/cuda")
    cuda = toolkit.cuda.get()
    start = start_of(cuda, facts, matrix)
    if start.floor is None:
        return ok(start.why)
    return bad(
        f"programs built with {toolkit.label} do not start on this driver: {start.why}",
        *newer_driver(facts, start.floor, matrix),
        severity=Severity.WARNING,
        evidence=(
            Evidence.of(facts.driver.release, f"driver {facts.driver.release.get()}"),
            Evidence.at(name.place, f"{name.value} is in {toolkit.label}", name.name),
            Evidence(f"CUDA {cuda} starts on driver {start.floor} or newer", label="matrix, cuda.toolkits"),
        ),
    )


RULE = Rule(TOOLKITS, check, blocks_verdict=False)
