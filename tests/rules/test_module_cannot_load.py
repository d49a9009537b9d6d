"""module-cannot-load: compiled modules beside a framework."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import Advice, ChangePackages, InstallPackage, InstallSystemLibrary
from doctor.model.facts.environment import NativeFault, Unloadable
from doctor.model.finding import Severity, Status
from tests.machine import SITE, environment, machine, seen, unseen
from tests.rules.case import answer

CODE = "module-cannot-load"


def fault(why: Unloadable, what: str, name: str = "opencv-python", **changes: Any) -> NativeFault:
    one = NativeFault(
        distribution=name, version="4.8.0.74", path=f"{SITE}/cv2/cv2.abi3.so", why=why, what=what, is_sure=True
    )
    return one._replace(**changes)


def having(*faults: NativeFault) -> Any:
    return machine(environments=seen((environment(native_faults=seen(faults)),)))


GL = fault(Unloadable.LIBRARY, "libGL.so.1")


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (having(), Status.OK),
        (having(GL), Status.BAD),
        (machine(environments=seen((environment(native_faults=unseen()),))), Status.UNKNOWN),
        (machine(environments=unseen()), Status.UNKNOWN),
        (machine(environments=seen((environment(native_faults=None),))), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("one", "severity"),
    [
        (GL, Severity.WARNING),
        (GL._replace(required_by=("torch",)), Severity.ERROR),
        (GL._replace(required_by=("torch",), is_sure=False), Severity.WARNING),
        (fault(Unloadable.PYTHON, "3.10", "torch"), Severity.ERROR),
    ],
)
def test_an_error_only_where_a_framework_cannot_be_imported(one: NativeFault, severity: Severity) -> None:
    assert answer(CODE, having(one)).severity is severity


@pytest.mark.parametrize(
    ("one", "why", "need"),
    [
        (GL, "needs libGL.so.1, which was not found", InstallSystemLibrary),
        (fault(Unloadable.NUMPY, "2.4.6"), "compiled for NumPy 1, and NumPy 2.4.6 is installed", InstallPackage),
        (fault(Unloadable.VERSION, "GLIBCXX_3.4.32", lacks="/usr/lib/libstdc++.so.6"), "needs GLIBCXX_3.4.32", Advice),
        (fault(Unloadable.PYTHON, "3.10 3.11"), "only compiled modules for Python 3.10, 3.11", ChangePackages),
        (fault(Unloadable.MACHINE, "aarch64"), "compiled modules for aarch64", ChangePackages),
    ],
)
def test_words_and_needs(one: NativeFault, why: str, need: type) -> None:
    found = answer(CODE, having(one))
    assert why in found.why
    assert isinstance(found.needs[0], need)


def test_many_packages_of_another_python() -> None:
    """They are not reinstalled one by one."""
    several = [fault(Unloadable.PYTHON, "3.10", f"package-{number}") for number in range(9)]
    assert isinstance(answer(CODE, having(*several)).needs[0], Advice)
    assert answer(CODE, having(*several[:2])).needs == (
        ChangePackages(("package-0==4.8.0.74", "package-1==4.8.0.74"), environment().interpreter),
    )


def test_the_worst_comes_first() -> None:
    found = answer(
        CODE, having(fault(Unloadable.PYTHON, "3.10", "cffi", is_sure=False), fault(Unloadable.PYTHON, "3.10", "torch"))
    )
    assert found.why.startswith("torch")
    assert found.why.endswith("1 more cannot be loaded either")
