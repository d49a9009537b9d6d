"""libcuda-link-missing: torch 2.0.1 with cuDNN 8.5."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import AssignVariable, LinkTo
from doctor.model.facts import Facts
from doctor.model.facts.loader import FoundBy, Outcome, SearchDir
from doctor.model.finding import Status
from tests.machine import driver, driver_library, framework, loader, machine, prediction, seen, system, unseen
from tests.rules.case import answer

CODE = "libcuda-link-missing"
LIB = "/usr/lib/x86_64-linux-gnu"
WSL = "/usr/lib/wsl/lib"
ASKER = "/site/nvidia/cudnn/lib/libcudnn_cnn_infer.so.8"


def on(outcome: Outcome, /, **changes: Any) -> Facts:
    """torch asks for libcuda.so."""
    told = prediction(f"{LIB}/libcuda.so", soname="libcuda.so", library=ASKER, outcome=outcome)
    if outcome is not Outcome.FOUND:
        told = told._replace(path=unseen("nowhere"), way=None)
    search = seen((SearchDir(WSL, FoundBy.LIBRARY_PATH, True), SearchDir(LIB, FoundBy.DEFAULT, True)))
    return machine(loader=loader(predictions=seen((told,)), search=search))._replace(**changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (on(Outcome.FOUND), Status.OK),
        (on(Outcome.MISSING), Status.BAD),
        (on(Outcome.UNREAD), Status.UNKNOWN),
        (on(Outcome.MISSING, driver=driver(libraries=seen(()))), Status.NOT_APPLICABLE),  # there is no driver
        (on(Outcome.MISSING, pci=seen(()), gpus=seen(())), Status.NOT_APPLICABLE),
        (on(Outcome.MISSING, system=system(family=seen("windows"))), Status.NOT_APPLICABLE),
        (machine(), Status.NOT_APPLICABLE),
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_a_link_beside_the_driver() -> None:
    found = answer(CODE, on(Outcome.MISSING))
    assert found.needs == (LinkTo(f"{LIB}/libcuda.so", "libcuda.so.580.95.05"),)
    assert found.evidence[0].source == ASKER


def test_in_wsl_the_directory_is_searched() -> None:
    library = driver_library()._replace(path=f"{WSL}/libcuda.so.1", origin="wsl")
    found = answer(CODE, on(Outcome.MISSING, driver=driver(libraries=seen((library,)))))
    assert found.needs == (AssignVariable("LD_LIBRARY_PATH", WSL),)


def test_it_is_no_matter_of_cudas_release() -> None:
    assert answer("cudart-soname-missing", on(Outcome.MISSING)).kind is not Status.BAD


def test_the_subject_is_the_framework() -> None:
    assert answer(CODE, on(Outcome.MISSING)).subject == framework().label
