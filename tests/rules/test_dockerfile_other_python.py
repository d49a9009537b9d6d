"""dockerfile-other-python: a second Python of the system's packages, and whose pip is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Severity, Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

BASE = "FROM nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04\n"
OTHER = f"{BASE}RUN apt-get update && apt-get install -y python3.13 python3.13-venv python3-pip\n"
OWN = f"{BASE}RUN apt-get update && apt-get install -y python3.12 python3-pip\n"
PIP = "RUN pip install --break-system-packages torch torchvision\n"
BAD, OK, NONE = Status.BAD, Status.OK, Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (OTHER + PIP, BAD),
        (OWN + PIP, OK),
        (f"{OTHER}RUN pip install --break-system-packages requests\n", OK),
        (f"{OTHER}RUN ln -sf /usr/bin/python3.13 /usr/bin/python3\n{PIP}", NONE),
        (f"{OTHER}RUN python3.13 -m venv /v && /v/bin/pip install torch\n", NONE),
        (f"{OTHER}RUN python3.13 -m pip install torch\n", NONE),
        (f"{BASE}RUN apt-get install -y python3-pip\n{PIP}", NONE),
    ],
)
def test_kinds(text: str, kind: Status, tmp_path: Path) -> None:
    found = answer("dockerfile-other-python", facts(tmp_path, text))
    assert found.kind is kind, found
    if kind is BAD:
        assert (found.severity, [one.line for one in found.evidence]) == (Severity.WARNING, [3, 2])
