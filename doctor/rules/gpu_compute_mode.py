"""The compute mode of a GPU keeps programs out."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, SetComputeMode
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import GPUS, need_live


def check(gpu: Gpu, facts: Facts, matrix: Matrix) -> Answer:
    """Prohibited admits no CUDA program, exclusive-process one at a time: the second gets cudaErrorDevicesUnavailable.

    An exclusive card that nobody uses is some queueing system's, and as it should be. Source: CUDA Programming Guide,
    "Compute Modes".
    """
    need_live(facts)
    mode = gpu.compute_mode.get()
    users = value_or(gpu.now.processes, ())
    if mode == "default" or (mode == "exclusive-process" and not users):
        return ok(f"compute mode {mode}")
    shared = SetComputeMode(gpu.number, "DEFAULT")
    evidence = Evidence.of(gpu.compute_mode, f"compute mode {mode}")
    if mode == "prohibited":
        return bad(f"{gpu.label} allows no CUDA program: its compute mode is prohibited", shared, evidence=(evidence,))
    pids = ", ".join(map(str, users))
    return bad(
        f"{gpu.label} is in use, and its compute mode (exclusive-process) allows only one process",
        Advice(f"Wait for the process on {gpu.label} (pid {pids}), or use another GPU."),
        shared,
        severity=Severity.WARNING,
        evidence=(evidence, Evidence.of(gpu.now.processes, f"process {pids}")),
    )


RULE = Rule(GPUS, check, blocks_verdict=False)
