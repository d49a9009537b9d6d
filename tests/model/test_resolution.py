"""From the command to the rule, and what becomes of the rule's answer on the way back."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from compat.matrix import Matrix
from compat.need import Advice
from doctor.cli import execute
from doctor.commands.check import command
from doctor.diagnose import findings_of
from doctor.model.finding import Answer, Symptom, bad, ok
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE
from tests.machine import machine

AT_MOST = 8  # frames of ours


@pytest.mark.parametrize("argv", [["check"], ["check", "--skip", "power-thermal"]])
def test_few_frames_from_the_command_to_the_rule(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ways: list[list[str]] = []

    def check(*_: Any) -> Answer:
        frames = [one for one in inspect.stack(0) if "/doctor/" in one.filename.replace("\\", "/")]
        ways.append([one.function for one in frames][::-1])
        return ok("")

    monkeypatch.setattr(command, "load_rules", lambda wanted: {"test": Rule(MACHINE, check)})
    monkeypatch.setattr(command, "look", lambda *_: machine())
    execute(argv)
    capsys.readouterr()
    [way] = ways
    # `main`, which starts the process, comes before `run`; the rule itself comes last.
    assert len(["main", *way, "check"]) <= AT_MOST, " -> ".join(way)


def given(code: str, *explains: str) -> Answer:
    symptoms = tuple(Symptom(one) for one in explains)
    answer = bad(code, Advice(f"Repair {code}."), explains=symptoms)
    return answer._replace(code=code, subject="this machine")


def test_an_explained_symptom_carries_no_remedy() -> None:
    found = findings_of((given("cause", "symptom"), given("symptom")), machine(), Matrix())
    assert [(one.code, bool(one.remedies), one.explained_by) for one in found] == [
        ("cause", True, ""),
        ("symptom", False, "cause"),
    ]
