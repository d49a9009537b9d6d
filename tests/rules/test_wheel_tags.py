"""glibc-too-old and python-version-no-wheel: what a published wheel was made for."""

from __future__ import annotations

import pytest

from compat.need import InstallPackage, as_json
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.finding import Severity, Status
from tests.machine import VENV, distribution, environment, framework, machine, seen, system, unseen
from tests.rules.case import answer

GLIBC, PYTHON = "glibc-too-old", "python-version-no-wheel"


def on(built: Framework, glibc: str = "2.39", python: str = "3.12.4", kind: str = "wheel") -> Facts:
    """A machine with this glibc, and this framework under this Python."""
    installed = seen((distribution(built.package, built.version, kind=kind),))
    here = environment(built, distributions=installed, python=seen(python))
    return machine(system=system(glibc=seen(glibc)), environments=seen((here,)))


@pytest.mark.parametrize(
    ("built", "glibc", "kind"),
    [
        (framework(), "2.39", Status.OK),
        (framework(), "2.28", Status.OK),
        (framework(), "2.27", Status.BAD),
        (framework(), "2.9", Status.BAD),  # numbers, not texts
        (framework(), "2.100", Status.OK),
        (framework("tensorflow", "2.20.0", build=seen("cuda"), cuda=unseen("")), "2.5", Status.BAD),
        (framework("tensorflow", "99.0"), "2.39", Status.UNKNOWN),
        # what its libraries ask for counts too, and alone where no row covers the build
        (framework(glibc=seen("2.40", "libtorch_cuda.so")), "2.39", Status.BAD),
        (framework(glibc=seen("2.27", "libtorch_cuda.so")), "2.27", Status.BAD),
        (framework(glibc=seen("2.9", "libtorch_cuda.so")), "2.27", Status.BAD),
        (framework(glibc=seen("2.9", "libtorch_cuda.so")), "2.28", Status.OK),
        (framework(version="99.0+cu128", glibc=seen("2.27", "libtorch_cuda.so")), "2.27", Status.OK),
        (framework(version="99.0+cu128", glibc=seen("2.27", "libtorch_cuda.so")), "2.9", Status.BAD),
    ],
)
def test_glibc(built: Framework, glibc: str, kind: Status) -> None:
    assert answer(GLIBC, on(built, glibc=glibc)).kind is kind


def test_glibc_that_could_not_be_read() -> None:
    facts = on(framework())
    assert answer(GLIBC, facts._replace(system=system(glibc=unseen("musl")))).kind is Status.UNKNOWN
    windows = system(family=seen("windows"))
    assert answer(GLIBC, facts._replace(system=windows)).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("built", "python", "kind"),
    [
        (framework(), "3.12.4", Status.OK),
        (framework(), "3.14.0", Status.OK),
        (framework(), "3.15.0", Status.BAD),
        (framework(version="2.0.1+cu117", build=seen("cu117"), cuda=seen(CudaVersion(11, 7))), "3.12.1", Status.BAD),
        (framework(version="99.0+cu128"), "3.12.4", Status.UNKNOWN),
    ],
)
def test_python(built: Framework, python: str, kind: Status) -> None:
    found = answer(PYTHON, on(built, python=python))
    assert found.kind is kind
    assert kind is not Status.BAD or found.severity is Severity.WARNING


def test_unseen_python_is_unknown() -> None:
    here = environment(python=unseen("no pyvenv.cfg"))
    assert answer(PYTHON, machine(environments=seen((here,)))).kind is Status.UNKNOWN


def test_the_nearest_release_with_a_wheel_is_offered() -> None:
    built = framework(version="2.0.1+cu117", build=seen("cu117"), cuda=seen(CudaVersion(11, 7)))
    needs = answer(PYTHON, on(built, python="3.12.1")).needs
    assert needs[0] == InstallPackage("torch", "==2.2.0", f"{VENV}/bin/python", "cu121")
    assert as_json(needs[-1]).product == "by-hand"


@pytest.mark.parametrize("code", ["glibc-too-old", "python-version-no-wheel"])
@pytest.mark.parametrize("kind", ["egg-info", "conda", "develop"])
def test_what_is_no_wheel_does_not_apply(code: str, kind: str) -> None:
    facts = on(framework(), glibc="2.5", python="3.15.0", kind=kind)
    assert answer(code, facts).kind is Status.NOT_APPLICABLE
