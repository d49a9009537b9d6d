"""nvcc-missing-in-use: packages whose kernels are compiled when they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Status
from tests.commands.dockerfile.judged import facts
from tests.rules.case import answer

RUNTIME, DEVEL = (f"FROM nvidia/cuda:12.8.1-{variant}-ubuntu24.04\n" for variant in ("runtime", "devel"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{RUNTIME}RUN pip install flashinfer-python==0.3.1\n", Status.BAD),
        (f"{DEVEL}RUN pip install flashinfer-python==0.3.1\n", Status.OK),
        (f"{RUNTIME}RUN apt-get install -y cuda-nvcc-12-8\nRUN pip install flashinfer-python==0.3.1\n", Status.OK),
        (f"{RUNTIME}RUN pip install flashinfer-python==0.3.1 flashinfer-jit-cache==0.3.1\n", Status.NOT_APPLICABLE),
        (f"{RUNTIME}RUN pip install torch==2.9.1\n", Status.NOT_APPLICABLE),
        ("FROM example/mine:1\nRUN pip install flashinfer-python==0.3.1\n", Status.UNKNOWN),
    ],
)
def test_kinds(text: str, kind: Status, tmp_path: Path) -> None:
    found = answer("nvcc-missing-in-use", facts(tmp_path, text))
    assert found.kind is kind
    assert kind is not Status.BAD or (found.evidence[0].file, found.evidence[0].line) == ("Dockerfile", 2)
