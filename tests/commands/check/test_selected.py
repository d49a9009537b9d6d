"""Environments of an image that nothing selects neither accuse nor leave a doubt."""

from __future__ import annotations

import pytest

from doctor.commands.check.selected import by_selection
from doctor.model.finding import Severity, Status, bad, unknown
from tests.machine import environment, framework, machine, seen

OTHER, OWN = framework("torch", "1.13.1+cu116"), framework("torch", "2.9.1+cu128")


@pytest.mark.parametrize(
    ("asked_by", "own", "severity", "blocks"),
    [
        ("python3 on PATH", (OWN,), Severity.INFO, False),
        ("python3 on PATH", (), Severity.ERROR, True),  # a script may select the other one
        ("python3 on PATH", (OTHER,), Severity.ERROR, True),  # the selected one has that fault as well
        ("root", (OWN,), Severity.ERROR, True),
    ],
)
def test_selected(asked_by: str, own: tuple[object, ...], severity: Severity, *, blocks: bool) -> None:
    selected = environment(prefix="/opt/own", asked_by=asked_by, frameworks=seen(own))
    other = environment(prefix="/opt/other", asked_by="root", frameworks=seen((OTHER,)))
    answers = (bad("it is too old")._replace(subject=OTHER.label), unknown("why")._replace(subject=OTHER.label))
    wrong, doubt = by_selection(answers, machine(environments=seen((selected, other))))
    assert (wrong.kind, wrong.severity, doubt.blocks_verdict) == (Status.BAD, severity, blocks)
