"""local-module-hides-framework and package-listed-twice."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Machine
from doctor.model.facts.environment import Distribution, HidingModule
from doctor.model.finding import Severity, Status
from tests.machine import SITE, environment, machine, seen, unseen
from tests.rules.case import answer

HIDES, TWICE = "local-module-hides-framework", "package-listed-twice"
BY_PATH = HidingModule("torch", "/opt/own/torch.py", "PYTHONPATH")
HERE = HidingModule("torch", "/home/user/project/torch.py", "")


def hidden(*found: HidingModule, **changes: Any) -> Any:
    return machine(environments=seen((environment(hiding=found),)), **changes)


@pytest.mark.parametrize(
    ("facts", "kind", "severity"),
    [
        (hidden(), Status.OK, None),
        (hidden(BY_PATH), Status.BAD, Severity.ERROR),
        (hidden(HERE), Status.BAD, Severity.WARNING),
        (hidden(HERE._replace(package="jax")), Status.OK, None),
        (hidden(machine=Machine("root", "/mnt")), Status.NOT_APPLICABLE, None),
        (machine(environments=unseen()), Status.UNKNOWN, None),
    ],
)
def test_a_module_that_hides_a_framework(facts: Any, kind: Status, severity: Severity | None) -> None:
    found = answer(HIDES, facts)
    assert found.kind is kind
    if severity:
        assert found.severity is severity
        assert "Rename" in as_json(found.needs[0]).spec
        assert bool(found.explains) is (severity is Severity.ERROR)


def listed(*versions: str, site: str = SITE) -> Any:
    first = f"{SITE}/torch-{versions[0]}.dist-info"
    found = [
        Distribution(
            name="torch",
            version=one,
            site=SITE if number == 0 else site,
            metadata=f"{SITE if number == 0 else site}/torch-{one}.dist-info",
            kind="wheel",
            hidden_by=first if number else "",
        )
        for number, one in enumerate(versions)
    ]
    return machine(environments=seen((environment(distributions=seen(tuple(found))),)))


@pytest.mark.parametrize(
    ("facts", "kind", "advice"),
    [
        (listed("2.9.1+cu128"), Status.OK, ""),
        (listed("2.9.1", "2.9.1"), Status.OK, ""),
        (listed("2.9.1", "2.8.0", site="/usr/lib/python3/dist-packages"), Status.OK, ""),
        (listed("2.10.0+cu128", "2.9.1+cu128"), Status.BAD, f"Remove {SITE}/torch-2.10.0+cu128.dist-info: its"),
        (listed("2.9.1", "2.8.0"), Status.BAD, f"Remove {SITE}/torch-2.8.0.dist-info: its"),
        (listed("2.10.0", "2.8.0"), Status.BAD, "then reinstall torch"),
        (machine(environments=seen((environment(distributions=unseen()),))), Status.UNKNOWN, ""),
    ],
)
def test_a_package_that_is_listed_twice(facts: Any, kind: Status, advice: str) -> None:
    found = answer(TWICE, facts)
    assert found.kind is kind
    if advice:
        assert advice in as_json(found.needs[0]).spec
