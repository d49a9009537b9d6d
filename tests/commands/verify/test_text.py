"""How a verification reads: the answer first, nothing said twice, 80 columns; and JSON that says the same."""

from __future__ import annotations

import json
import re

import pytest

from doctor.commands.verify.cudnn_trial.outcome import Outcome
from doctor.commands.verify.encode import encode_verification
from doctor.commands.verify.findings import answers_of, merged
from doctor.commands.verify.missing import lacks_of
from doctor.commands.verify.subject import Subject, TrialSubject
from doctor.commands.verify.text import as_text
from doctor.commands.verify.verification import Tried, Verification
from doctor.diagnose import findings_of
from doctor.output.document import TextStyle
from tests.commands.verify.outcomes import failing, fault, outcome, row
from tests.machine import cudnn_copy, machine, seen
from tests.rules.case import MATRIX

COPY = cudnn_copy()
NO_GPU = machine(gpus=seen(()), pci=seen(()))
ROWS = (
    row(),
    row(algorithm="WINOGRAD", status="declined"),
    row(dtype="fp16"),
    row(dtype="fp16", status="wrong", difference=0.5),
)


def verification(one: Outcome, facts: object = None) -> Verification:
    """What one trial of one copy comes to."""
    known = machine() if facts is None else NO_GPU
    answers = merged(answers_of(one, TrialSubject(COPY.label, COPY), known, MATRIX))
    tried = Tried(Subject(COPY, one.library, ("torch 2.9.1",), "its RUNPATH"), one, answers, lacks_of(one, known))
    findings = findings_of(answers, known, MATRIX)
    return Verification(known, one.level, (tried,), (), answers, findings, "2026-11-20", 1.25)


LACKING = outcome("device", status="missing", lacks="driver", facts={"also_lacks": ["cupy"], "extra": "cuda12"})
WRONG = failing("matrix", fault("wrong"), "full", rows=ROWS)


@pytest.mark.parametrize(
    ("done", "first", "status"),
    [
        (verification(outcome()), "✓ cuDNN 9.10.2 convolves, and every result is right", 0),
        (verification(outcome(level="load")), "✓ cuDNN 9.10.2 loads, and its parts belong together; nothing was", 0),
        (verification(LACKING, NO_GPU), "! cuDNN 9.10.2: it loads, and was not tried on a GPU; level conv needs an", 4),
        (verification(WRONG), "✗ cuDNN 9.10.2 on GPU 0: 1 result is wrong\n", 1),
        (verification(failing("handle", fault("python", "KeyError", "x"))), "! cuDNN 9.10.2: not everything could", 4),
    ],
)
def test_the_first_line_is_the_answer(done: Verification, first: str, status: int) -> None:
    text = as_text(done, TextStyle())
    assert text.startswith(first)
    assert done.status == status
    long = [line for line in text.splitlines() if len(line) > 80 and COPY.path not in line]
    assert all(line.startswith("      uv pip install") for line in long)  # a command to copy is never broken


def test_what_is_missing_is_said_once() -> None:
    text = " ".join(as_text(verification(LACKING, NO_GPU), TextStyle()).split())
    assert text.count("gpudoctor[cuda12]") == 1
    assert "not tried handle, convolution" in text


def test_the_table_of_level_full() -> None:
    text = as_text(verification(WRONG), TextStyle())
    table = text[text.index("results that are right") :].splitlines()
    assert table[0].split()[-2:] == ["fp32", "fp16"]
    assert table[1].split() == ["forward", "IMPLICIT_GEMM", "1", "1/2"]
    assert table[2].split() == ["forward", "WINOGRAD", "·"]
    assert "differs from the reference by 0.5" in " ".join(text.split())


def test_no_table_below_level_full() -> None:
    assert "results that are right" not in as_text(verification(outcome(rows=ROWS[:1])), TextStyle())


def test_a_terminal_without_unicode() -> None:
    as_text(verification(WRONG), TextStyle(symbols=False)).encode("ascii")


@pytest.mark.parametrize("one", [outcome(), LACKING, WRONG, outcome(level="load")])
def test_text_and_json_agree(one: Outcome) -> None:
    done = verification(one)
    told = json.loads(json.dumps(encode_verification(done)))
    text = as_text(done, TextStyle())
    assert {"passed": 0, "failed": 1, "incomplete": 4}[told["verdict"]] == done.status
    assert (told["verdict"] == "passed") is text.startswith("✓")
    roots = [finding for finding in told["findings"] if not finding["explained_by"]]
    assert all(finding["code"] in text for finding in roots)
    errors = sum(finding["severity"] == "error" for finding in roots)
    assert re.search(rf"^{errors} errors? · {len(roots) - errors} warnings? ·", text.splitlines()[-1])
