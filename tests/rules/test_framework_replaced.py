"""framework-replaced: another package's requirement takes the framework of an earlier line out."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Severity, Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

BASE = "FROM pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{BASE}RUN pip install bitsandbytes==0.50.2\n", Status.BAD),
        (f"{BASE}RUN pip install monai==1.6.1\n", Status.BAD),
        (f"{BASE}RUN pip install torch==2.9.1\n", Status.OK),  # that line means it
        (f"{BASE}RUN pip install peft==0.21.2\n", Status.OK),  # it takes the base's
        (f"{BASE}RUN pip install torch==2.2.0 numpy\n", Status.OK),
        ("FROM python:3.12\nRUN pip install accelerate==1.15.0\n", Status.OK),
    ],
)
def test_kinds(text: str, kind: Status, tmp_path: Path) -> None:
    found = answer("framework-replaced", facts(tmp_path, text))
    assert found.kind is kind
    if kind is Status.BAD:
        assert (found.severity, str(found.evidence[0].source)) == (Severity.WARNING, "Dockerfile:2")
        assert "replaces torch 2.2.0+cu121" in found.why
        assert (", replaces" in found.why) == (", which requires" in found.why)
