"""The driver's own library crashes when it starts."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallDriver
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Symptom, bad, ok
from doctor.rules.shared.conditions import nvml_evidence, on_host
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """NVML, loaded in a child, died: a damaged or foreign library, or a preloaded one that breaks it."""
    need_gpu(facts)
    nvml = facts.driver.nvml.get()
    if nvml.state != "crashed":
        return ok("NVML does not crash")
    release = value_or(facts.driver.module_release, None)
    return bad(
        f"{nvml.library} crashes when it is used: {nvml.error}",
        on_host(facts, InstallDriver(f"=={release}" if release else ""), "reinstall the driver libraries"),
        evidence=nvml_evidence(facts),
        explains=(Symptom("framework-import-crash"), Symptom("no-device-nodes")),
    )


RULE = Rule(MACHINE, check)
