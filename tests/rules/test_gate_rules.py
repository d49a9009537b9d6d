"""What the driver and the GPU operator say of a node themselves."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from doctor.model.facts import Machine
from doctor.model.facts.seen import Fact
from doctor.model.facts.system import OperatorState
from doctor.model.finding import Status
from doctor.prescribe.remedies import prescribe
from tests.machine import gpu, machine, seen, system, unseen
from tests.rules.case import answer

ALL = ("cuda-ready", "driver-ready", "plugin-ready", "toolkit-ready")


@pytest.mark.parametrize(
    ("recovery", "kind", "said"),
    [
        (seen("none"), Status.OK, "no action"),
        (seen("reset"), Status.BAD, "reset"),
        (seen("restart"), Status.BAD, "restart"),
        (seen("action 9"), Status.BAD, "action 9"),
        (unseen("NVML: Not Supported"), Status.UNKNOWN, "Not Supported"),
    ],
)
def test_gpu_recovery_needed(recovery: Fact[str], kind: Status, said: str) -> None:
    found = answer("gpu-recovery-needed", machine(gpus=seen((gpu(recovery=recovery),))))
    assert (found.kind, said in found.why, found.blocks_verdict) == (kind, True, False)


@pytest.mark.parametrize(
    ("recovery", "command"),
    [
        ("reset", "sudo nvidia-smi --gpu-reset -i 1"),
        ("drain and reset", "sudo nvidia-smi --gpu-reset"),
        ("restart", "# Stop the programs and reboot (the driver requests: restart)."),
        ("action 9", "# Stop the programs on this machine and ask its administrator (the driver requests: action 9)."),
    ],
)
def test_what_the_driver_asks_for_is_prescribed(recovery: str, command: str) -> None:
    facts = machine(gpus=seen((gpu(number=1, recovery=seen(recovery)),)))
    (remedy,) = prescribe(answer("gpu-recovery-needed", facts), facts, Matrix())
    assert command in remedy.commands


@pytest.mark.parametrize(
    ("state", "kind", "said"),
    [
        (seen(OperatorState(True, ALL)), Status.OK, "validated"),
        (seen(OperatorState(True, ("driver-ready",))), Status.BAD, "toolkit-ready, cuda-ready, plugin-ready missing"),
        (seen(OperatorState(True, ())), Status.BAD, "driver-ready"),
        (seen(OperatorState(True, ("vfio-pci-ready",))), Status.NOT_APPLICABLE, "virtual machines"),
        (seen(OperatorState(False, ())), Status.NOT_APPLICABLE, "no GPU operator"),
        (unseen("permission denied"), Status.UNKNOWN, "permission denied"),
    ],
)
def test_gpu_operator_not_ready(state: Fact[OperatorState], kind: Status, said: str) -> None:
    facts = machine(system=system(gpu_operator=state))
    found = answer("gpu-operator-not-ready", facts)
    assert (found.kind, said in found.why) == (kind, True)
    disk = facts._replace(machine=Machine("root", "/mnt"))
    assert answer("gpu-operator-not-ready", disk).kind is Status.NOT_APPLICABLE
