"""windows-long-paths."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Facts
from doctor.model.facts.environment import Incomplete
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import environment, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "windows-long-paths"
HEADER = "C:/v/Lib/site-packages/" + "x/" * 120 + "tensor.h"
MODULE = "C:/v/Lib/site-packages/" + "x/" * 120 + "__init__.py"


def windows(paths: Any, switch: Any, *lost: str, family: str = "windows") -> Facts:
    incomplete = (Incomplete("tensorflow", "2.10.1", lost, ()),) if lost else ()
    here = environment(too_long=paths, incomplete=seen(incomplete))
    return machine(system=system(family=seen(family), long_paths=switch), environments=seen((here,)))


@pytest.mark.parametrize(
    ("paths", "switch", "kind", "severity"),
    [
        (seen(()), seen(False), Status.OK, None),
        (seen(()), unseen(), Status.OK, None),  # nobody needs to know
        (seen((HEADER,)), seen(True), Status.OK, None),
        (seen((HEADER,)), seen(False), Status.BAD, Severity.WARNING),
        (seen((HEADER, MODULE)), seen(False), Status.BAD, Severity.ERROR),
        (seen((HEADER,)), unseen(), Status.UNKNOWN, None),
        (unseen(), seen(False), Status.UNKNOWN, None),
    ],
)
def test_windows(paths: Any, switch: Any, kind: Status, severity: Severity | None) -> None:
    found = answer(CODE, windows(paths, switch))
    assert found.kind is kind
    if severity:
        assert found.severity is severity
        assert "LongPathsEnabled" in as_json(found.needs[0]).spec


def test_elsewhere_it_does_not_apply() -> None:
    assert answer(CODE, windows(seen((HEADER,)), seen(False), family="linux")).kind is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("lost", "explained"), [((MODULE,), True), ((MODULE, "C:/v/Lib/site-packages/a.dll"), False), ((), False)]
)
def test_it_explains_what_windows_does_not_find(lost: tuple[str, ...], explained: bool) -> None:
    """A file that is lost under a short path has another reason."""
    facts = windows(seen((HEADER, MODULE)), seen(False), *lost)
    [here] = facts.environments.get()
    assert answer(CODE, facts).explains == ((Symptom("corrupted-install", here.label),) if explained else ())
