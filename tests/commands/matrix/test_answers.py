"""Answers for people: the verdict first, then commands, then few reasons that bear on the question; no sources."""

from __future__ import annotations

import shlex
from statistics import median

import pytest

from doctor.cli import execute
from tests.commands.matrix.test_questions import QUESTIONS


def lines(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    execute(["matrix", *words])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("command", ["can", "solve"])
def test_an_answer_is_short(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [shlex.split(one.ask) for one in QUESTIONS[::5]]
    if command == "solve":
        asked = [one for one in asked if not one[0].startswith(("cuda==", "cudnn=="))]
    assert median(len(lines(capsys, command, *one)) for one in asked) <= 20


@pytest.mark.parametrize(
    "ask",
    [
        "solve torch --gpu 'RTX 5090' --driver 570.86",
        "solve torch tensorflow --gpu 'RTX 5090'",
        "solve torch==2.15.0 tensorflow --gpu B200",
        "solve torch --gpu 'GT 640M'",
        "can torch --gpu 'GTX 1080 Ti' --driver 580.95.05",
        "can torch==2.15.0 --gpu 'GTX 1080 Ti'",
        "can torch==2.99",
    ],
)
def test_the_verdict_comes_first_and_reasons_bear_on_it(ask: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = lines(capsys, *shlex.split(ask))
    verdict = text[0].partition(":")[0]
    assert verdict in {"yes", "no", "unknown"}
    assert not any("Sources" in line or "builds[" in line for line in text)
    at = next((at for at, line in enumerate(text) if line.startswith("Why no")), len(text))
    reasons = [line for line in text[at + 1 :] if line.startswith("  ") and not line.startswith("    ")]
    assert len(reasons) <= 5
    assert not any(line.startswith(("  torch 0.", "  torch 1.")) for line in reasons)  # nobody asks why not those
    assert any(line.startswith("To find out: ") for line in text) == (verdict == "unknown")


def test_commands_come_before_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    text = lines(capsys, "solve", "torch", "--gpu", "RTX 4090", "--driver", "550.54.14")
    assert text.index("Install it in a new environment") < text.index("Why nothing newer")


@pytest.mark.parametrize("command", ["can", "solve"])
def test_sources_are_for_those_who_ask(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(lines(capsys, command, "torch==2.9.1", "--gpu", "RTX 4090", "--sources"))
    assert "torch.builds[torch-2.9.1-cu1" in text
    assert "pytorch/pytorch:RELEASE.md" in text


def test_a_reason_of_many_builds_names_the_newest(capsys: pytest.CaptureFixture[str]) -> None:
    """One line named every build from the newest to the oldest, and what is true of the newest alone."""
    text = lines(capsys, "solve", "torch", "--gpu", "GTX 1080 Ti")
    why = text.index("Why nothing newer")
    assert text[why + 1].startswith("  torch 2.15.0 (cu134): ")
    assert "sm_75, sm_80" not in text[why + 1]


def test_notes_of_show_name_the_platform(capsys: pytest.CaptureFixture[str]) -> None:
    notes = lines(capsys, "show", "torch", "2.8.0")
    named = [line for line in notes[notes.index("Notes") :] if line.startswith("  2.8.0 ")]
    assert all("linux" in line or "windows" in line for line in named)
