"""tf-native-windows-after-2-10."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Machine
from doctor.model.facts.system import WslDistribution
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import distribution, environment, framework, machine, seen, system, unseen
from tests.rules.case import answer, answers

CODE = "tf-native-windows-after-2-10"
WINDOWS = system(family=seen("windows"), machine=seen("AMD64"), glibc=unseen("Windows has none"))
DOCKER, UBUNTU = WslDistribution("docker-desktop", 2, True), WslDistribution("Ubuntu", 2, False)
OLD = WslDistribution("Debian", 1, True)
OFFLINE = Machine("root", "/mnt/c")


@pytest.mark.parametrize(
    ("package", "version", "changes", "kind"),
    [
        ("tensorflow", "2.10.1", {"system": WINDOWS}, Status.OK),
        ("tensorflow-gpu", "2.10.0", {"system": WINDOWS}, Status.OK),
        ("tensorflow-gpu", "1.15.0", {"system": WINDOWS}, Status.OK),
        ("tensorflow", "2.11.0", {"system": WINDOWS}, Status.BAD),
        ("tensorflow", "2.20.0", {"system": WINDOWS}, Status.BAD),
        ("tensorflow-intel", "2.18.0", {"system": WINDOWS}, Status.BAD),
        ("tensorflow", "2.20.0", {"system": WINDOWS, "machine": OFFLINE}, Status.BAD),
        ("tensorflow", "2.20.0", {}, Status.NOT_APPLICABLE),
        ("torch", "2.9.1", {"system": WINDOWS}, Status.NOT_APPLICABLE),
        ("tensorflow", "2.20.0", {"system": WINDOWS, "gpus": seen(()), "pci": seen(())}, Status.NOT_APPLICABLE),
        ("tensorflow", "2.20.0", {"system": system(family=unseen("no sign"))}, Status.UNKNOWN),
    ],
)
def test_releases(package: str, version: str, changes: dict[str, object], kind: Status) -> None:
    built = framework(package, version, build=seen("cpu"))
    found = answer(CODE, machine(environments=seen((environment(built),)), **changes))
    assert found.kind is kind
    if kind is Status.BAD:
        assert found.severity is (Severity.WARNING if "machine" in changes else Severity.ERROR)
        assert Symptom("cpu-only-wheel", built.label) in found.explains
        assert "2.10" in found.why


@pytest.mark.parametrize(
    ("python", "product", "words"),
    [
        (seen("3.11.9"), "by-hand", "create an environment with Python 3.10 and install tensorflow==2.10.* there"),
        (seen("3.14.0"), "by-hand", "wheels only for Python 3.7, 3.8, 3.9, 3.10"),
        (seen("3.10.11"), "tensorflow", "==2.10.*"),
        (seen("3.7.9"), "tensorflow", "==2.10.*"),
        (unseen(), "tensorflow", "==2.10.*"),
    ],
)
def test_the_old_release_has_a_wheel_for_the_python(python: Any, product: str, words: str) -> None:
    here = environment(framework("tensorflow", "2.11.0", build=seen("cpu")), python=python)
    need = answer(CODE, machine(system=WINDOWS, environments=seen((here,)))).needs[1]
    assert as_json(need).product == product
    assert words in as_json(need).spec


def test_tensorflow_intel_leaves_before_the_old_release_comes() -> None:
    """From 2.11.0 to 2.18.0 it has the files that 2.10 has itself."""
    here = environment(framework("tensorflow", "2.15.0", build=seen("cpu")), python=seen("3.10.11"))
    installed = seen((distribution("tensorflow", "2.15.0"), distribution("tensorflow-intel", "2.15.0")))
    facts = machine(system=WINDOWS, environments=seen((here._replace(distributions=installed),)))
    need = answer(CODE, facts).needs[1]
    assert (as_json(need).product, as_json(need).spec, as_json(need).build) == (
        "wheels",
        "tensorflow==2.10.*",
        "tensorflow-intel",
    )


def test_a_gpu_that_is_assumed_makes_it_an_error() -> None:
    here = seen((environment(framework("tensorflow", "2.20.0", build=seen("cpu"))),))
    found = answer(CODE, machine(system=WINDOWS, machine=OFFLINE, environments=here, assumed=("gpus",)))
    assert found.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (unseen(), "install WSL 2, and TensorFlow for Linux inside it"),
        (seen(()), "install WSL 2, and TensorFlow for Linux inside it"),
        (seen((DOCKER,)), "install WSL 2, and TensorFlow for Linux inside it"),
        (seen((DOCKER, UBUNTU)), "install TensorFlow for Linux inside Ubuntu (wsl -d Ubuntu)"),
        (seen((OLD, UBUNTU)), "install TensorFlow for Linux inside Ubuntu (wsl -d Ubuntu)"),
        (
            seen((OLD,)),
            "convert Debian to WSL 2 (wsl --set-version Debian 2), install TensorFlow for Linux inside Debian",
        ),
    ],
)
def test_the_linux_that_is_there_is_named(there: Any, words: str) -> None:
    here = seen((environment(framework("tensorflow", "2.20.0", build=seen("cpu"))),))
    found = answer(CODE, machine(system=WINDOWS._replace(wsl_distributions=there), environments=here))
    assert as_json(found.needs[0]).spec.startswith(words)


def test_the_stub_speaks_for_the_package_it_brought() -> None:
    both = (framework("tensorflow", "2.18.0"), framework("tensorflow-intel", "2.18.0"))
    installed = seen(tuple(distribution(one.package, one.version) for one in both))
    here = environment(*both, distributions=installed)
    kinds = [one.kind for one in answers(CODE, machine(system=WINDOWS, environments=seen((here,))))]
    assert kinds == [Status.BAD, Status.NOT_APPLICABLE]
