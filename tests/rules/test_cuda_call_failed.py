"""cuda-call-failed, uvm-broken-after-suspend: what CUDA itself answers where NVML says that all is well."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts.driver import CudaStart
from doctor.model.finding import Status
from tests.machine import driver, gpu, machine, report_on, seen, system, unseen
from tests.rules.case import answer

FAILED, SUSPENDED = "cuda-call-failed", "uvm-broken-after-suspend"


def started(code: int = 0, state: str = "", error: str = "CUDA_ERROR_X words") -> Any:
    state = state or ("error" if code else "ok")
    start = CudaStart(state=state, code=code, error=error if state != "ok" else "", why="the machine was suspended")
    return machine(driver=driver(cuda_start=seen(start)))


@pytest.mark.parametrize(
    ("facts", "failed", "suspended"),
    [
        (started(), Status.OK, Status.OK),
        (started(999), Status.OK, Status.BAD),
        *((started(code), Status.BAD, Status.OK) for code in (3, 46, 100, 304, 802, 803, 804, 12345)),
        (started(state="hung", error="cuInit did not answer within 10 s"), Status.BAD, Status.OK),
        (started(state="crashed", error="cuInit ended the process (status -11)"), Status.BAD, Status.OK),
        (started(state="not-asked"), Status.NOT_APPLICABLE, Status.NOT_APPLICABLE),
        (started(state="not-opened"), Status.NOT_APPLICABLE, Status.NOT_APPLICABLE),
        (machine(driver=driver(cuda_start=unseen("refused"))), Status.UNKNOWN, Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, failed: Status, suspended: Status) -> None:
    assert (answer(FAILED, facts).kind, answer(SUSPENDED, facts).kind) == (failed, suspended)


@pytest.mark.parametrize(
    ("code", "words"),
    [(802, "error 802"), (804, "error 804"), (100, "the driver sees no GPU"), (12345, "CUDA_ERROR_X words")],
)
def test_number_and_meaning(code: int, words: str) -> None:
    found = answer(FAILED, started(code))
    assert words in found.why
    assert str(code) in found.why
    assert as_json(found.needs[0]).product == "by-hand"


@pytest.mark.parametrize(
    ("code", "has_hmm", "container", "said"),
    [(3, True, "", "uvm_disable_hmm=1"), (3, True, "docker", "On the host"), (3, False, "", ""), (100, True, "", "")],
)
def test_hmm_is_turned_off_first(code: int, has_hmm: bool, container: str, said: str) -> None:
    start = CudaStart(state="error", code=code, error="CUDA_ERROR_X", why="--deep", has_hmm=has_hmm)
    facts = machine(driver=driver(cuda_start=seen(start)), system=system(container=seen(container)))
    first = as_json(answer(FAILED, facts).needs[0]).spec
    assert ("uvm_disable_hmm" in first) is bool(said)
    assert said in first


def test_a_container_leaves_the_module_to_its_host() -> None:
    facts = started(999)._replace(system=system(container=seen("docker")))
    assert "not in this container" in as_json(answer(SUSPENDED, facts).needs[0]).spec


def test_what_makes_it_so_comes_first() -> None:
    """Error 802 on a system of NVSwitches whose fabric manager does not run."""
    start = CudaStart(state="error", code=802, error="CUDA_ERROR_SYSTEM_NOT_READY", why="--deep")
    facts = machine(
        driver=driver(cuda_start=seen(start), fabric_manager=seen("stopped")),
        gpus=seen((gpu(name="NVIDIA H100 80GB HBM3", capability="9.0", has_fabric=seen(True)),)),
    )
    found = {one.code: one for one in report_on(facts).findings}
    assert found[FAILED].explained_by
    assert not found["fabric-manager-not-running"].explained_by
