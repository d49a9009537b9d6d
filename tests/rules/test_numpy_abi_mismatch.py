"""numpy-abi-mismatch."""

from __future__ import annotations

import re

import pytest

from compat.need import InstallPackage
from doctor.model.finding import Answer, Severity, Status
from tests.machine import VENV, distribution, environment, framework, machine, seen, unseen
from tests.rules.case import answer

CODE = "numpy-abi-mismatch"


@pytest.mark.parametrize(
    ("package", "version", "numpy", "kind", "severity"),
    [
        ("torch", "2.2.2+cu121", "2.2.6", Status.BAD, Severity.WARNING),
        ("torch", "2.2.2+cu121", "1.26.4", Status.OK, None),
        ("torch", "2.2.2+cu121", "", Status.NOT_APPLICABLE, None),
        ("torch", "2.3.0+cu121", "2.2.6", Status.NOT_APPLICABLE, None),
        ("tensorflow", "2.14.0", "2.0.0", Status.BAD, Severity.ERROR),
        ("tensorflow", "2.16.2", "2.0.2", Status.BAD, Severity.ERROR),
        ("tensorflow", "2.17.1", "1.26.4", Status.OK, None),
        ("tensorflow", "2.18.0", "2.0.2", Status.NOT_APPLICABLE, None),
        ("paddlepaddle-gpu", "2.6.1", "2.2.6", Status.BAD, Severity.ERROR),
        ("paddlepaddle-gpu", "2.6.2", "2.2.6", Status.NOT_APPLICABLE, None),
        ("onnxruntime-gpu", "1.18.1", "2.4.6", Status.BAD, Severity.ERROR),
        ("onnxruntime-gpu", "1.19.2", "2.4.6", Status.NOT_APPLICABLE, None),
    ],
)
def test_releases(package: str, version: str, numpy: str, kind: Status, severity: Severity | None) -> None:
    there = (distribution(package, version), *((distribution("numpy", numpy),) if numpy else ()))
    here = environment(framework(package, version), distributions=seen(there))
    found = answer(CODE, machine(environments=seen((here,))))
    assert (found.kind, found.severity if found.kind is Status.BAD else None) == (kind, severity)
    assert found.kind is not Status.BAD or asked_of(found) == "<2"


def asked_of(found: Answer) -> str:
    """The upper end of what is advised; metadata adds a lower one."""
    (need,) = found.needs
    assert isinstance(need, InstallPackage)
    assert (need.name, need.interpreter) == ("numpy", f"{VENV}/bin/python")
    return re.sub(r"(\.0)+$", "", need.versions.partition(",")[0])


def test_the_range_is_that_of_the_metadata() -> None:
    """tensorflow 2.12.0 requires numpy>=1.22,<1.24: `numpy<2` would break `pip check`."""
    there = (distribution("tensorflow", "2.12.0"), distribution("numpy", "2.2.6"))
    here = environment(framework("tensorflow", "2.12.0"), distributions=seen(there))
    assert asked_of(answer(CODE, machine(environments=seen((here,))))) == "<1.24"


@pytest.mark.parametrize(
    ("package", "version", "numpy", "wanted"),
    [
        ("mxnet-cu112", "1.9.1", "1.24.4", "<1.24"),
        ("mxnet-cu112", "1.9.1", "1.23.5", ""),
        ("numba", "0.60.0", "2.1.3", "<2.1"),
        ("numba", "0.61.2", "2.3.5", "<2.3"),
        ("numba", "0.64.0", "2.4.6", ""),
        ("numba", "0.66.0", "2.5.5", "<2.5"),
    ],
)
def test_what_refuses_a_newer_one_for_other_reasons(package: str, version: str, numpy: str, wanted: str) -> None:
    there = (distribution(package, version), distribution("numpy", numpy))
    here = environment(framework(package, version), distributions=seen(there))
    found = answer(CODE, machine(environments=seen((here,))))
    assert found.kind is (Status.BAD if wanted else Status.OK)
    assert (asked_of(found) if wanted else "") == wanted


@pytest.mark.parametrize(("version", "kind"), [("2.4.0", Status.BAD), ("2.4.1", Status.NOT_APPLICABLE)])
def test_windows_wheels_of_torch_followed_later(version: str, kind: Status) -> None:
    there = (distribution("torch", version), distribution("numpy", "2.1.0"))
    here = environment(framework("torch", version), distributions=seen(there))
    facts = machine(environments=seen((here,)))
    assert answer(CODE, facts._replace(system=facts.system._replace(family=seen("windows")))).kind is kind


def test_a_hidden_copy_is_not_imported() -> None:
    there = (distribution("numpy", "1.26.4"), distribution("numpy", "2.2.6", hidden_by="another"))
    here = environment(framework("torch", "2.2.2"), distributions=seen(there))
    assert answer(CODE, machine(environments=seen((here,)))).kind is Status.OK


def test_unread_packages_are_unknown() -> None:
    here = environment(framework("torch", "2.2.2"), distributions=unseen("cannot be read"))
    assert answer(CODE, machine(environments=seen((here,)))).kind is Status.UNKNOWN
