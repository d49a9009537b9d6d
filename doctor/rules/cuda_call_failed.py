"""CUDA answers with an error when it starts, though NVML works."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, bad, ok
from doctor.rules.shared.conditions import CUDA_UNKNOWN, container, cuda_start, cuda_start_evidence
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_NOT_INITIALIZED = 3
# Sources: NVIDIA/open-gpu-kernel-modules issues 797 and 901; the rule's page has more.
_HMM = (
    "Turn HMM of nvidia_uvm off: echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee /etc/modprobe.d/uvm.conf, then "
    "sudo modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm."
)
_ADVICE = "read the kernel log ('sudo dmesg | grep -i nvrm'), then reboot"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Whatever cuInit answers, with its number and meaning; what makes it do so explains it, where a rule sees that."""
    start = cuda_start(facts)
    if start.state == "ok" or start.code == CUDA_UNKNOWN:
        return ok("CUDA starts, or returns an error with its own rule")
    from compat.status import status_row  # late: only a finding needs its rows

    row = status_row("cuda", start.code, matrix) if start.code else None
    what = f"returns error {start.code} at its start: {row.meaning if row else start.error}"
    advice = row.advice if row and row.advice else _ADVICE
    needs: tuple[Advice, ...] = (Advice(f"{advice[0].upper()}{advice[1:]}."),)
    if start.code == _NOT_INITIALIZED and start.has_hmm:
        what, needs = f"{what}. HMM of nvidia_uvm is on, which fails with some kernels", (_hmm(facts), *needs)
    return bad(
        f"NVML works, but CUDA {what if start.code else f'does not start: {start.error}'}",
        *needs,
        evidence=cuda_start_evidence(facts),
    )


def _hmm(facts: Facts) -> Advice:
    return Advice(f"On the host: {_HMM}" if container(facts) else _HMM)


RULE = Rule(MACHINE, check, blocks_verdict=False)
