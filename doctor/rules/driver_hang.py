"""The driver does not answer."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import RestartMachine
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import kernel_says, nvml_evidence, on_host
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu

_RESTART = "reboot; if that hangs, switch the machine off and on"
# What the kernel and the module write when a task waits for the driver for ever.
_HUNG_TASKS = ("blocked for more than", "GSP RPC timeout", "Timeout waiting for RPC from GSP")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """NVML, asked in a child, gave no answer in time: the child waits in the kernel, as every program would."""
    need_gpu(facts)
    if facts.driver.nvml.get().state != "hung":
        return ok("NVML answers")
    said = kernel_says(facts)
    return bad(
        "the driver does not answer: programs that use it hang",
        on_host(facts, RestartMachine(), _RESTART),
        evidence=(
            *nvml_evidence(facts),
            *(Evidence(text, label="kernel log") for text in _HUNG_TASKS if text.casefold() in said.casefold()),
        ),
        explains=(Symptom("no-device-nodes"), Symptom("framework-import-hang")),
    )


RULE = Rule(MACHINE, check)
