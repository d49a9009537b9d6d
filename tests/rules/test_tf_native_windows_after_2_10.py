"""tf-native-windows-after-2-10."""

from __future__ import annotations

import pytest

from doctor.check.finding import Kind, Severity, Symptom
from doctor.facts import Machine
from tests.machine import distribution, environment, framework, machine, seen, system, unseen
from tests.rules.case import answer, answers

CODE = "tf-native-windows-after-2-10"
WINDOWS = system(family=seen("windows"), machine=seen("AMD64"), glibc=unseen("Windows has none"))
OFFLINE = Machine("root", "/mnt/c")


@pytest.mark.parametrize(
    ("package", "version", "changes", "kind"),
    [
        ("tensorflow", "2.10.1", {"system": WINDOWS}, Kind.OK),
        ("tensorflow-gpu", "2.10.0", {"system": WINDOWS}, Kind.OK),
        ("tensorflow-gpu", "1.15.0", {"system": WINDOWS}, Kind.OK),
        ("tensorflow", "2.11.0", {"system": WINDOWS}, Kind.BAD),
        ("tensorflow", "2.20.0", {"system": WINDOWS}, Kind.BAD),
        ("tensorflow-intel", "2.18.0", {"system": WINDOWS}, Kind.BAD),
        ("tensorflow", "2.20.0", {"system": WINDOWS, "machine": OFFLINE}, Kind.BAD),
        ("tensorflow", "2.20.0", {}, Kind.NOT_APPLICABLE),
        ("torch", "2.9.1", {"system": WINDOWS}, Kind.NOT_APPLICABLE),
        ("tensorflow", "2.20.0", {"system": WINDOWS, "gpus": seen(()), "pci": seen(())}, Kind.NOT_APPLICABLE),
        ("tensorflow", "2.20.0", {"system": system(family=unseen("no sign"))}, Kind.UNKNOWN),
    ],
)
def test_releases(package: str, version: str, changes: dict[str, object], kind: Kind) -> None:
    built = framework(package, version, build=seen("cpu"))
    found = answer(CODE, machine(environments=seen((environment(built),)), **changes))
    assert found.kind is kind
    if kind is Kind.BAD:
        assert found.severity is (Severity.WARNING if "machine" in changes else Severity.ERROR)
        assert Symptom("cpu-only-wheel", built.label) in found.explains
        assert "2.10" in found.why


def test_the_stub_speaks_for_the_package_it_brought() -> None:
    both = (framework("tensorflow", "2.18.0"), framework("tensorflow-intel", "2.18.0"))
    installed = seen(tuple(distribution(one.package, one.version) for one in both))
    here = environment(*both, distributions=installed)
    kinds = [one.kind for one in answers(CODE, machine(system=WINDOWS, environments=seen((here,))))]
    assert kinds == [Kind.BAD, Kind.NOT_APPLICABLE]
