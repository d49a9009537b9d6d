"""nvml-error, gpu-compute-mode: what NVML answers, by number."""

from __future__ import annotations

from typing import Any

import pytest

from compat.matrix import Matrix
from compat.need import RestartMachine, SetComputeMode, as_json
from doctor.model.finding import Severity, Status
from installers.choose import plan_for
from installers.render import commands
from tests.installers.target import UBUNTU
from tests.machine import driver, gpu, machine, nvml, seen, system, unseen
from tests.rules.case import MATRIX, answer

CODE, MODE = "nvml-error", "gpu-compute-mode"


def refused(code: int, **changes: Any) -> Any:
    """A machine whose NVML does not start."""
    said = nvml(state="error", error=f"NVMLError ({code}): words", code=code)
    return machine(driver=driver(nvml=seen(said), **changes), gpus=unseen())


def one_card(code: int) -> Any:
    """A machine whose second card cannot be named."""
    return machine(gpus=seen((gpu(), gpu(number=1, refused=f"NVMLError ({code}): words", refused_code=code))))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        *((refused(code), Status.OK) for code in (4, 12, 15, 18)),  # with rules of their own
        *((refused(code), Status.BAD) for code in (8, 10, 11, 14, 16, 17, 20, 27, 77, 999)),
        (refused(9), Status.BAD),  # though the module is loaded and its nodes are there
        (refused(9, nodes=seen(())), Status.OK),
        (refused(9, modules_loaded=seen(()), module_release=unseen()), Status.OK),
        (refused(999)._replace(system=system(container=seen("docker"))), Status.OK),
        (one_card(8), Status.BAD),
        (one_card(15), Status.OK),
        (machine(driver=driver(nvml=seen(nvml(state="hung")))), Status.NOT_APPLICABLE),
        (machine(driver=driver(nvml=unseen())), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("facts", "said", "need"),
    [
        (refused(8), "power cable", "Check the power connectors"),
        (refused(17), "cgroup", "In a container"),
        (refused(77), "error 77", "kernel log"),
    ],
)
def test_number_meaning_and_remedy(facts: Any, said: str, need: str) -> None:
    found = answer(CODE, facts)
    assert said in found.why
    assert need in as_json(found.needs[0]).spec


@pytest.mark.parametrize(
    ("facts", "said", "command"),
    [
        (one_card(16), "GPU 1 returns error 16", "sudo nvidia-smi --gpu-reset -i 1"),
        (refused(16), "reset", "sudo nvidia-smi --gpu-reset"),
    ],
)
def test_a_card_that_wants_a_reset_gets_one(facts: Any, said: str, command: str) -> None:
    found = answer(CODE, facts)
    assert said in found.why
    assert commands(plan_for(found.needs[0], UBUNTU, MATRIX), UBUNTU)[-1] == command


def test_most_are_mended_by_a_restart() -> None:
    assert answer(CODE, refused(999)).needs == (RestartMachine(),)
    inside = refused(10)._replace(system=system(container=seen("docker")))
    assert as_json(answer(CODE, inside).needs[0]).product == "by-hand"


def test_every_code_of_nvml_has_a_meaning() -> None:
    from compat.status import status_row

    for code in (*range(1, 31), 999):
        row = status_row("nvml", code, Matrix())
        assert row is not None, code
        assert row.meaning, code


BUSY = gpu().now._replace(processes=seen((4711,)))


@pytest.mark.parametrize(
    ("card", "kind", "severity"),
    [
        (gpu(), Status.OK, None),
        (gpu(compute_mode=seen("exclusive-process")), Status.OK, None),  # a queueing system's
        (gpu(compute_mode=seen("exclusive-process"), now=BUSY), Status.BAD, Severity.WARNING),
        (gpu(compute_mode=seen("prohibited")), Status.BAD, Severity.ERROR),
        (gpu(now=BUSY), Status.OK, None),
        (gpu(compute_mode=unseen()), Status.UNKNOWN, None),
    ],
)
def test_compute_mode(card: Any, kind: Status, severity: Severity | None) -> None:
    found = answer(MODE, machine(gpus=seen((card,))))
    assert found.kind is kind
    assert severity is None or found.severity is severity


def test_a_prohibited_card_is_opened() -> None:
    found = answer(MODE, machine(gpus=seen((gpu(compute_mode=seen("prohibited")),))))
    assert found.needs == (SetComputeMode(0, "DEFAULT"),)
