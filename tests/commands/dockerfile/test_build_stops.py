"""Lines that stop the build, and images whose requirement for the driver is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.commands.check.text import render
from doctor.model.finding import Status
from doctor.output.document import TextStyle
from tests.commands.dockerfile.judged import facts, report
from tests.rules.case import answer

PIP, CUDA = "RUN pip install torch==2.9.1\n", "FROM nvidia/cuda:12.8.1-base-ubuntu22.04\n"
APT = "RUN apt-get update && apt-get install -y python3 git\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{CUDA}{APT}{PIP}", 3),
        (f"FROM ubuntu:22.04\nRUN apt-get update && apt-get install -y python3\n{PIP}", 3),
        (f"FROM ubuntu:22.04 AS a\n{APT}FROM a\nRUN python3 -m pip install torch\n", 4),
        ("FROM python:3.10\nRUN pip install torch==2.0.0+cu118 torchvision==0.15.1+cu118\n", 2),
        ("FROM python:3.11\nCOPY uv.lock .\nRUN uv pip sync uv.lock\n", 3),
        ("FROM python:3.11\nCOPY uv.lock .\nRUN uv pip install --system -r uv.lock\n", 3),
        ("FROM python:3.11\nCOPY poetry.lock .\nRUN pip install -r poetry.lock\n", 3),
    ],
)
def test_a_line_stops_the_build(text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("version = 1\n")
    found = answer("dockerfile-pip-refuses", facts(tmp_path, text))
    assert found.kind is Status.BAD
    assert found.why.startswith(f"Dockerfile:{line} stops the build: ")


@pytest.mark.parametrize(
    "text",
    [
        f"{CUDA}RUN apt-get update && apt-get install -y python3-pip\n{PIP}",
        f"{CUDA}{APT}RUN curl -sS https://bootstrap.pypa.io/get-pip.py | python3\n{PIP}",
        f"{CUDA}{APT}COPY --from=python:3.11 /usr/local /usr/local\n{PIP}",
        f"{CUDA}ARG MORE\nRUN apt-get install -y $MORE\n{PIP}",
        f"{CUDA}COPY setup.sh .\nRUN ./setup.sh\n{PIP}",
        f"{CUDA}{APT}RUN pip install torch || true\n",
        f"FROM python:3.11-bookworm\n{PIP}",
        "FROM python:3.10\nRUN pip install torch==2.0.0+cu118 -f https://download.pytorch.org/whl/torch_stable.html\n",
        "FROM python:3.10\nENV UV_INDEX=https://example.org/whl/cu118\nRUN uv pip install torch==2.0.0+cu118\n",
        "FROM python:3.10\nRUN pip config set global.find-links /w && pip install torch==2.0.0+cu118\n",
        "FROM example/base:1\nRUN pip install torch==2.0.0+cu118\n",
        f"FROM pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel\n{PIP}",
        "FROM python:3.11\nCOPY requirements.txt .\nRUN uv pip sync requirements.txt\n",
    ],
)
def test_a_line_that_may_work(text: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.9.1\n")
    assert answer("dockerfile-pip-refuses", facts(tmp_path, text)).kind is not Status.BAD


def test_uv_pip_sync_reads_its_files(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.9.1\n")
    text = "FROM python:3.11\nCOPY requirements.txt .\nRUN uv pip sync requirements.txt\n"
    [environment] = facts(tmp_path, text).environments.get()
    assert [one.package for one in environment.frameworks.get()] == ["torch"]


@pytest.mark.parametrize(
    ("image", "driver", "kind"),
    [
        ("vllm/vllm-openai:v0.10.2", "550.54.14", Status.UNKNOWN),
        ("vllm/vllm-openai:v0.10.2", "570.86.10", Status.UNKNOWN),
        ("vllm/vllm-openai:v0.10.2", "580.65.06", Status.OK),
        ("vllm/vllm-openai:v0.10.2", "", Status.NOT_APPLICABLE),
        ("pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime", "550.54.14", Status.NOT_APPLICABLE),
    ],
)
def test_an_image_whose_requirement_is_unknown(image: str, driver: str, kind: Status, tmp_path: Path) -> None:
    target = {"assume_gpus": ("RTX 3090",), "assume_driver": driver} if driver else {}
    assert answer("container-requirement-unmet", facts(tmp_path, f"FROM {image}\n", **target)).kind is kind


def test_opencv_python_is_no_framework(tmp_path: Path) -> None:
    text = "FROM python:3.11\nRUN pip install torch==2.9.1 opencv-python==4.11.0.86\n"
    [environment] = facts(tmp_path, text).environments.get()
    assert [one.package for one in environment.frameworks.get()] == ["torch"]


def test_open_checks_stand_above_notices_and_a_base_image_is_no_line_that_installs(tmp_path: Path) -> None:
    text = "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\nRUN pip install -e .\n"
    shown = render(report(tmp_path, text, assume_gpus=("RTX 5090",), assume_driver="580.65.06"), TextStyle())
    assert shown.index("gpu-too-new-for-cuda") < shown.index("Could not run") < shown.index("dockerfile-caches-left")
    assert "Dockerfile:1: use another tag of pytorch/pytorch, or add after it:" in shown
