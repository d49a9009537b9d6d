"""driver-too-old-for-toolkit."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import InstallDriver, as_json
from doctor.model.facts import Facts
from doctor.model.facts.toolkit import Toolkit, ToolkitName
from doctor.model.finding import Severity, Status
from tests.machine import driver, driver_library, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer, answers

CODE = "driver-too-old-for-toolkit"


def facts(release: str, *found: Toolkit, **changes: Any) -> Facts:
    return machine(driver=driver(release), toolkit=toolkits(*found))._replace(**changes)


@pytest.mark.parametrize(
    ("release", "cuda", "kind"),
    [
        ("580.95.05", "13.0.2", Status.OK),
        ("570.86.10", "13.0.2", Status.BAD),
        ("535.183.01", "12.8.1", Status.OK),  # minor-version compatibility
        ("470.256.02", "12.8.1", Status.BAD),
        ("470.256.02", "11.8.0", Status.OK),
        ("390.157", "10.2.89", Status.BAD),
        ("440.33.01", "10.2.89", Status.OK),
        ("535.183.01", "99.0.0", Status.UNKNOWN),
    ],
)
def test_floor(release: str, cuda: str, kind: Status) -> None:
    found = answer(CODE, facts(release, toolkit(cuda)))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.severity is Severity.WARNING
        assert as_json(found.needs[0]).product == "driver"


def test_the_floor_is_asked_for() -> None:
    assert answer(CODE, facts("570.86.10", toolkit("13.0.2"))).needs[0] == InstallDriver(">=580")


def test_only_the_toolkit_in_use_counts() -> None:
    found = {one.subject: one.kind for one in answers(CODE, facts("535.183.01", toolkit(), toolkit("13.0.2")))}
    assert set(found.values()) == {Status.OK, Status.NOT_APPLICABLE}


def test_a_variable_comes_first() -> None:
    old, new = toolkit(), toolkit("13.0.2")
    names = (
        ToolkitName("nvcc on PATH", f"{old.path}/bin/nvcc", seen(old.path)),
        ToolkitName("CUDA_HOME", new.path, seen(new.path)),
    )
    found = answer(CODE, machine(driver=driver("535.183.01"), toolkit=toolkits(old, new, names=seen(names))))
    assert found.kind is Status.BAD
    assert ("CUDA_HOME", f"{new.path} is in {new.label}") in {(one.source, one.detail) for one in found.evidence}


def test_a_forward_compatible_libcuda_is_enough() -> None:
    compat = driver_library("libcuda", "580.65.06", origin="compat")
    with_it = driver("535.183.01", libraries=seen((compat,)))
    assert answer(CODE, machine(driver=with_it, toolkit=toolkits(toolkit("13.0.2")))).kind is Status.OK


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"driver": driver()._replace(release=unseen())}, Status.UNKNOWN),
        ({"gpus": seen(()), "pci": seen(())}, Status.NOT_APPLICABLE),
        ({"toolkit": toolkits(toolkit("13.0.2", nvcc=unseen("no nvcc")))}, Status.NOT_APPLICABLE),
        ({"toolkit": toolkits(toolkit("13.0.2"), names=seen(()))}, Status.NOT_APPLICABLE),
    ],
)
def test_where_it_cannot_be_judged(changes: dict[str, Any], kind: Status) -> None:
    assert answer(CODE, facts("470.256.02", toolkit("13.0.2"), **changes)).kind is kind
