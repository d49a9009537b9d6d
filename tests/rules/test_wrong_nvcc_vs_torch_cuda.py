"""wrong-nvcc-vs-torch-cuda."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import AssignVariable, InstallToolkit
from doctor.model.facts import Facts
from doctor.model.facts.toolkit import ToolkitName
from doctor.model.finding import Severity, Status
from tests.machine import distribution, environment, framework, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

CODE = "wrong-nvcc-vs-torch-cuda"
OLD = toolkit("11.8.0", links=())
NEW = toolkit("12.4.1")
NEXT = toolkit("13.0.1", links=())
RUNTIME = toolkit("11.7.1", nvcc=unseen("no nvcc"), links=())
SILENT = toolkit("12.0", path="/opt/silent", cuda=unseen("nothing says"))
ALL = (OLD, NEW, NEXT, RUNTIME, SILENT)


def named(name: str, root: str) -> ToolkitName:
    return ToolkitName(name, root, seen(root))


def building(**changes: Any) -> Facts:
    """A machine whose environment has torch and ninja."""
    there = environment()._replace(distributions=seen((distribution("ninja", "1.13.0"),)))
    return machine(environments=seen((there,)), **changes)


@pytest.mark.parametrize(
    ("names", "kind", "severity"),
    [
        ((named("CUDA_HOME", NEW.path),), Status.OK, Severity.ERROR),  # another minor version: torch only remarks on it
        ((named("CUDA_HOME", OLD.path), named("nvcc on PATH", NEW.path)), Status.BAD, Severity.WARNING),
        ((named("nvcc on PATH", OLD.path), named("/usr/local/cuda", NEW.path)), Status.BAD, Severity.WARNING),
        ((named("nvcc on PATH", NEXT.path),), Status.BAD, Severity.WARNING),
        ((named("/usr/local/cuda", NEXT.path),), Status.BAD, Severity.WARNING),
        ((named("CUDA_HOME", RUNTIME.path),), Status.NOT_APPLICABLE, Severity.ERROR),
        ((named("CUDA_HOME", SILENT.path),), Status.UNKNOWN, Severity.ERROR),
        ((), Status.NOT_APPLICABLE, Severity.ERROR),
        (
            (ToolkitName("CUDA_HOME", "/gone", unseen("not there"), missing=True),),
            Status.NOT_APPLICABLE,
            Severity.ERROR,
        ),
    ],
)
def test_names(names: tuple[ToolkitName, ...], kind: Status, severity: Severity) -> None:
    found = answer(CODE, building(toolkit=toolkits(*ALL, names=seen(names))))
    assert (found.kind, found.severity) == (kind, severity)


def test_where_nothing_is_built_a_wheel_beside_another_toolkit_is_healthy() -> None:
    facts = machine(toolkit=toolkits(*ALL, names=seen((named("CUDA_HOME", OLD.path),))))
    assert answer(CODE, facts).kind is Status.NOT_APPLICABLE


def test_the_toolkit_that_fits_is_named() -> None:
    found = answer(CODE, building(toolkit=toolkits(*ALL, names=seen((named("CUDA_HOME", OLD.path),)))))
    assert found.needs == (AssignVariable("CUDA_HOME", "/usr/local/cuda-12.4"),)


def test_none_fits() -> None:
    facts = building(toolkit=toolkits(OLD, names=seen((named("CUDA_HOME", OLD.path),))))
    assert answer(CODE, facts).needs == (InstallToolkit("==12.8.*"),)


def test_only_torch() -> None:
    facts = machine(environments=seen((environment(framework("tensorflow", "2.18.0")),)))
    assert answer(CODE, facts).kind is Status.NOT_APPLICABLE
