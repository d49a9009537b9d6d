"""python-32-bit."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Severity, Status
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
        (windows(seen("x86_64")), Status.OK, None),
        (windows(seen("aarch64")), Status.OK, None),
        (windows(seen("i386")), Status.BAD, Severity.WARNING),
        (windows(seen("i386"), TORCH), Status.BAD, Severity.ERROR),
        (windows(seen("i386"), TORCH, machine=OFFLINE), Status.BAD, Severity.ERROR),
        (windows(seen("i386"), machine=OFFLINE), Status.NOT_APPLICABLE, None),  # nobody computes with it
        (windows(seen("i386"), machine=OFFLINE, assumed=("gpus",)), Status.BAD, Severity.WARNING),
        (windows(seen("i386"), pci=seen(()), gpus=seen(())), Status.NOT_APPLICABLE, None),
        (windows(unseen()), Status.UNKNOWN, None),
        (windows(seen("i386"), family="linux"), Status.NOT_APPLICABLE, None),
    ],
)
def test_windows(facts: Facts, kind: Status, severity: Severity | None) -> None:
    found = answer(CODE, facts)
    assert found.kind is kind
    if severity:
        assert found.severity is severity
        assert "py -3.12 -m venv .venv" in as_json(found.needs[0]).spec
