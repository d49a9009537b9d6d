"""The remedy for a Dockerfile is the line as it shall be."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.finding import Remedy
from tests.commands.dockerfile.judged import report

WHL = "https://download.pytorch.org/whl"
GPU = {"assume_gpus": ("RTX 5090",)}
INDEX = f"--index-url {WHL}/cu128"
BESIDE = f"--extra-index-url {WHL}/cu128"


def first(folder: Path, code: str, text: str) -> Remedy:
    [finding] = [one for one in report(folder, text, **GPU).findings if one.code == code]
    return finding.remedies[0]


@pytest.mark.parametrize(
    ("lines", "corrected"),
    [
        ("RUN pip install torch==2.6.0", f"RUN pip install torch==2.7.0 {INDEX}"),
        ("RUN pip install torch==2.6.0 torchvision", f"RUN pip install torch==2.7.0 torchvision {INDEX}"),
        ("RUN pip install torch==2.6.0 torchvision==0.21.0", f"RUN pip install torch==2.7.0 torchvision {INDEX}"),
        (f"RUN pip install torch==2.6.0 -i {WHL}/cu124", f"RUN pip install torch==2.7.0 {INDEX}"),
        (f"RUN pip install torch==2.6.0 --index-url={WHL}/cu124", f"RUN pip install torch==2.7.0 {INDEX}"),
        ("RUN pip install torch==2.6.0 pandas && rm x", f"RUN pip install torch==2.7.0+cu128 pandas {BESIDE} && rm x"),
        ("RUN uv pip install --system 'torch==2.6.0'", f"RUN uv pip install --system 'torch==2.7.0' {INDEX}"),
        ("RUN pip install \\\n    torch==2.6.0 \\\n    pandas", f"    torch==2.7.0+cu128 {BESIDE} \\"),
        (
            "RUN echo a && \\\n    pip install torch==2.6.0 && \\\n    echo b",
            f"    pip install torch==2.7.0 {INDEX} && \\",
        ),
    ],
)
def test_another_build(lines: str, corrected: str, tmp_path: Path) -> None:
    said = first(tmp_path, "gpu-too-new-for-cuda", f"FROM python:3.11\n{lines}\n")
    place, *text = said.commands
    assert place.startswith("# Dockerfile:")
    assert text == [corrected]


def test_a_line_of_a_requirements_file(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pandas\ntorch==2.6.0\n")
    text = "FROM python:3.11\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"
    place, *lines = first(tmp_path, "gpu-too-new-for-cuda", text).commands
    assert place.endswith("requirements.txt:2, corrected:")
    assert lines == [BESIDE, "torch==2.7.0+cu128"]


def test_what_goes_is_left_out(tmp_path: Path) -> None:
    text = "FROM python:3.11\nRUN pip install pandas onnxruntime==1.22.0 onnxruntime-gpu==1.22.0\n"
    _, line = first(tmp_path, "two-onnxruntimes", text).commands
    assert line == "RUN pip install pandas onnxruntime-gpu==1.22.0"


def test_a_limit_is_quoted(tmp_path: Path) -> None:
    _, line = first(
        tmp_path, "numpy-abi-mismatch", "FROM python:3.11\nRUN pip install torch==2.0.1 numpy==2.1.0\n"
    ).commands
    assert line == "RUN pip install torch==2.0.1 'numpy<2'"


def test_no_remedy_is_a_here_document(tmp_path: Path) -> None:
    text = "FROM python:3.11\nRUN pip install vllm==0.8.2\nRUN poetry add torch==2.6.0\n"
    said = report(tmp_path, text, **GPU)
    assert not [line for one in said.findings for each in one.remedies for line in each.commands if "<<" in line]
