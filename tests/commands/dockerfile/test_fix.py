"""`check --dockerfile FILE --fix`: the corrected lines are written after a question, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.commands.check.command import CheckSubject, ReportOptions
from doctor.commands.install.fix import Talk, fix
from doctor.output.document import TextStyle

BLACKWELL: dict[str, Any] = {
    "assume_gpus": ("RTX 5090",),
    "assume_driver": "580.65.06",
    "platform": "linux/amd64",
    "policy": "",
}
TEXT = (
    "FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n"
    "RUN apt-get update && apt-get install -y python3-pip && \\\n"
    "    pip install --no-cache-dir torch==2.5.1 && \\\n"
    "    rm -rf /var/lib/apt/lists/*\n"
)
LINE = "    pip install --no-cache-dir torch==2.7.0 --index-url https://download.pytorch.org/whl/cu128 && \\\n"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDOCTOR_STATE", str(tmp_path / "state"))


def talk(*answers: str) -> tuple[Talk, list[str]]:
    left, told = list(answers), list[str]()
    return Talk(told.append, lambda _: left.pop(0) if left else "q"), told


def fixed(file: Path, *answers: str) -> tuple[int, str]:
    person, told = talk(*answers)
    status = fix(CheckSubject(dockerfile=str(file), **BLACKWELL), ReportOptions(), TextStyle(), person)
    return status, "".join(told)


def test_the_line_is_written(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(TEXT)
    assert fixed(file, "n", "n")[0] == 1
    assert file.read_text() == TEXT
    status, told = fixed(file, "y")
    assert status == 0
    assert file.read_text() == TEXT.replace("    pip install --no-cache-dir torch==2.5.1 && \\\n", LINE)
    assert "gpu-too-new-for-cuda is fixed" in told


def test_so_is_that_of_a_requirements_file(tmp_path: Path) -> None:
    file, listed = tmp_path / "Dockerfile", tmp_path / "a.txt"
    file.write_text("FROM python:3.12\nCOPY a.txt .\nRUN pip install --no-cache-dir -r a.txt\n")
    listed.write_text("einops\ntorch==2.5.1\n")
    assert fixed(file, "y")[0] == 0
    assert listed.read_text().startswith(
        "einops\n--extra-index-url https://download.pytorch.org/whl/cu128\ntorch==2.7.0"
    )
    assert file.read_text().endswith("-r a.txt\n")


def test_an_advice_is_for_the_reader(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM python:3.12\nENV CUDA_VISIBLE_DEVICES=-1\nRUN pip install --no-cache-dir torch==2.9.1\n")
    status, told = fixed(file)
    assert status == 1
    assert "gpudoctor cannot do this for you" in told
