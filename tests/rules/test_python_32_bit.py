"""python-32-bit."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.model.facts import Facts, Machine
from doctor.model.finding import Kind, Severity
from tests.machine import environment, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "python-32-bit"
OFFLINE = Machine("root", "/mnt/c")


def windows(built_for: Any, frameworks: Any = None, family: str = "windows", **changes: Any) -> Facts:
    """A Python without frameworks, or with these."""
    here = environment(machine=built_for, frameworks=seen(()) if frameworks is None else frameworks)
    return machine(system=system(family=seen(family)), environments=seen((here,)), **changes)


TORCH = environment().frameworks


@pytest.mark.parametrize(
    ("facts", "kind", "severity"),
    [
        (windows(seen("x86_64")), Kind.OK, None),
        (windows(seen("aarch64")), Kind.OK, None),
        (windows(seen("i386")), Kind.BAD, Severity.WARNING),
        (windows(seen("i386"), TORCH), Kind.BAD, Severity.ERROR),
        (windows(seen("i386"), TORCH, machine=OFFLINE), Kind.BAD, Severity.ERROR),
        (windows(seen("i386"), machine=OFFLINE), Kind.NOT_APPLICABLE, None),  # nobody computes with it
        (windows(seen("i386"), machine=OFFLINE, assumed=("gpus",)), Kind.BAD, Severity.WARNING),
        (windows(seen("i386"), pci=seen(()), gpus=seen(())), Kind.NOT_APPLICABLE, None),
        (windows(unseen()), Kind.UNKNOWN, None),
        (windows(seen("i386"), family="linux"), Kind.NOT_APPLICABLE, None),
    ],
)
def test_windows(facts: Facts, kind: Kind, severity: Severity | None) -> None:
    found = answer(CODE, facts)
    assert found.kind is kind
    if severity:
        assert found.severity is severity
        assert "py -3.12 -m venv .venv" in found.needs[0].spec
