"""Shapes of public Dockerfiles, in words of our own, with the answers that were written down before the check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.model.finding import Severity
from tests.commands.dockerfile.judged import report

WHL = "https://download.pytorch.org/whl"
STABLE = f"{WHL}/torch_stable.html"
APT = "RUN apt-get update && apt-get install -y python3-pip && rm -rf /var/lib/apt/lists/*\n"
PIP = "RUN pip install --no-cache-dir"
BLACKWELL = {"assume_gpus": ("RTX 5090",), "assume_driver": "570.86.10"}
HOPPER = {"assume_gpus": ("H100",), "assume_driver": "535.129.03"}
ADA = {"assume_gpus": ("L4",), "assume_driver": "535.129.03"}
AMPERE = {"assume_gpus": ("A100",), "assume_driver": "535.129.03"}
# name: Dockerfile, where it runs, the faults with their lines
FAULTY: dict[str, tuple[str, dict[str, Any], set[tuple[str, int]]]] = {
    "today's torch on an image of CUDA 12": (
        f"FROM nvidia/cuda:12.4.1-base-ubuntu22.04\n{APT}{PIP} torch torchvision faiss-cpu\n",
        {},
        {("framework-not-pinned", 3)},
    ),
    "an index that ended, for a newer GPU": (
        (
            f"FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\n{APT}{PIP} torch torchvision -i {WHL}/cu124\n"
            f"{PIP} open-clip-torch numpy\n"
        ),
        BLACKWELL,
        {("gpu-too-new-for-cuda", 3)},
    ),
    "a package that takes the base's torch out": (
        f"FROM pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime\n{PIP} accelerate bitsandbytes\n",
        {},
        {("framework-replaced", 2)},
    ),
    "a source build on a runtime image": (
        (
            f"FROM nvidia/cuda:11.4.3-runtime-ubuntu20.04\n{APT}{PIP} "
            "'git+https://github.com/facebookresearch/detectron2.git'\n"
        ),
        {},
        {("dockerfile-nvcc-missing", 3)},
    ),
    "a tag with two parts": (
        f"FROM nvidia/cuda:11.8-devel-ubuntu22.04 as base\n{APT}",
        {},
        {("base-image-unknown", 1)},
    ),
    "an old torch for a newer GPU": (
        f"FROM nvidia/cuda:11.1.1-cudnn8-runtime-ubuntu20.04\n{APT}{PIP} -f {STABLE} torch==1.9.1+cu111\n",
        HOPPER,
        {("gpu-too-new-for-cuda", 3)},
    ),
}
UNKNOWN = {
    "a lock that a later line undoes": (
        "FROM nvidia/cuda:12.8.1-cudnn-devel-ubuntu24.04 AS base\nFROM base AS deps\nRUN uv venv && uv sync --frozen\n"
        "FROM deps AS venv\nRUN /app/.venv/bin/pip install -U vllm --pre --extra-index-url https://example.org/nightly\n"
        "FROM base\nCOPY --from=venv /app/.venv /app/.venv\n"
    ),
    "requirements that a command writes": (
        "FROM nvidia/cuda:12.8.0-cudnn-devel-ubuntu24.04\nRUN python3 -m venv venv\nENV PATH=venv/bin:$PATH\n"
        "RUN bash -c \"pip install --no-cache-dir -r <(grep -v 'PyAudio' requirements.txt)\"\n"
    ),
    "a release candidate": "FROM tensorflow/tensorflow:2.6.0rc1-gpu\n",
}
HEALTHY = {
    "releases and their index": (
        (
            f"FROM nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04\n{APT}"
            f"{PIP} torch==2.5.1+cu121 torchvision==0.20.1+cu121 --index-url {WHL}/cu121\n"
        ),
        ADA,
    ),
    "an index alone": (
        (
            f"FROM nvidia/cuda:12.8.0-cudnn-runtime-ubuntu22.04\n{APT}RUN python3 -m venv /opt/v && "
            f"/opt/v/bin/pip install --no-cache-dir torch torchvision torchaudio --index-url {WHL}/cu128\n"
        ),
        BLACKWELL,
    ),
    "what is built on torch": (
        (
            f"FROM nvidia/cuda:11.7.1-cudnn8-devel-ubuntu22.04\n{APT}"
            f"{PIP} torch==2.0.1 torchvision==0.15.2 monai==1.2.0 lightning==2.0.7 numpy==1.25.2\n"
        ),
        AMPERE,
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faults_and_their_lines(name: str, tmp_path: Path) -> None:
    text, where, expected = FAULTY[name]
    said = [one for one in report(tmp_path, text, **where).findings if one.severity is not Severity.INFO]
    told = {(one.code, each.line) for one in said for each in one.evidence if each.file == "Dockerfile"}
    assert expected <= told
    assert {one.code for one in said if not one.explained_by} == {code for code, _ in expected}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_told_is_unknown(name: str, tmp_path: Path) -> None:
    assert report(tmp_path, UNKNOWN[name]).verdict == "unknown"


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy(name: str, tmp_path: Path) -> None:
    text, where = HEALTHY[name]
    said = report(tmp_path, text, **where)
    assert said.verdict == "healthy", [(one.code, one.summary) for one in said.findings]
