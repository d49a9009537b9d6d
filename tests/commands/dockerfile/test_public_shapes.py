"""Shapes of public Dockerfiles with lock files and projects, in words of our own; the answers were written first."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from doctor.diagnose import exit_status
from doctor.model.facts.seen import Place
from doctor.model.finding import Severity
from doctor.script.base import base_of
from tests.commands.dockerfile.judged import report
from tests.commands.dockerfile.test_locked import LOCK

WHL = "https://download.pytorch.org/whl"
APT = "RUN apt-get update && apt-get install -y python3-pip git && rm -rf /var/lib/apt/lists/*\n"
UV = "COPY --from=ghcr.io/astral-sh/uv:0.9.27 /uv /uvx /bin/\n"
NEW_LOCK = LOCK.replace("2.6.0+cu124", "2.7.1+cu128").replace("cu124", "cu128")
POETRY = '[[package]]\nname = "torch"\nversion = "2.4.1"\ngroups = ["main"]\n'
PROJECT = '[project]\nname = "a"\ndependencies = [\n    "torch>=2.4",\n]\n'
EXACT = '[project]\nname = "a"\ndependencies = ["torch==2.5.1"]\n'
OF_LOCK, OF_NEW_LOCK = EXACT.replace("2.5.1", "2.6.0"), EXACT.replace("2.5.1", "2.7.1")
CONDA = "name: a\nchannels: [pytorch, nvidia]\ndependencies:\n  - python=3.10\n  - pytorch\n  - pytorch-cuda=11.8\n"
L4, H100, A100 = (("L4", "550.90.07"), ("H100", "550.90.07"), ("A100", "535.129.03"))
BLACKWELL, NEW_L4, NEW_H100 = (("RTX 5090", "580.65.06"), ("L4", "580.65.06"), ("H100", "580.65.06"))
NONE = ("", "")


class Shape(NamedTuple):
    text: str
    where: tuple[str, str]  # GPU and driver
    faults: frozenset[str] = frozenset()  # "code file:line" of errors and warnings
    files: dict[str, str] = {}  # noqa: RUF012 - a default that nobody changes
    status: int = 0


SHAPES = {
    "uv pip install of today's torch on CUDA 12": Shape(
        f"FROM nvidia/cuda:12.9.1-devel-ubuntu22.04 AS build\n{UV}WORKDIR /build\nRUN uv venv\n"
        "RUN uv pip install torch 'pip<25.3' wheel\n", NONE, frozenset({"framework-not-pinned Dockerfile:5"})),
    "a lock without code for the GPU": Shape(
        f"FROM nvidia/cuda:12.8.1-devel-ubuntu24.04\n{UV}WORKDIR /app\nCOPY . .\nENV UV_LINK_MODE=copy\n"
        'RUN --mount=type=cache,target=/root/.cache/uv \\\n    uv sync --no-dev\nENTRYPOINT ["uv", "run", "main.py"]\n',
        BLACKWELL, frozenset({"gpu-too-new-for-cuda uv.lock:27"}), {"uv.lock": LOCK, "pyproject.toml": OF_LOCK}, 1),
    "the same with a lock that fits": Shape(
        f"FROM nvidia/cuda:12.8.1-devel-ubuntu24.04\n{UV}WORKDIR /app\nCOPY . .\nENV UV_LINK_MODE=copy\n"
        'RUN --mount=type=cache,target=/root/.cache/uv \\\n    uv sync --no-dev\nENTRYPOINT ["uv", "run", "main.py"]\n',
        BLACKWELL, frozenset(), {"uv.lock": NEW_LOCK, "pyproject.toml": OF_NEW_LOCK}),
    "pip's uv, and a lock copied by name": Shape(
        f"FROM nvidia/cuda:12.6.1-runtime-ubuntu20.04\nWORKDIR /t\n{APT}RUN pip install --no-cache-dir uv\n"
        "COPY pyproject.toml uv.lock .python-version .\nRUN uv python install\nRUN uv sync --frozen --no-dev\n",
        BLACKWELL, frozenset(),
        {"uv.lock": NEW_LOCK, "pyproject.toml": OF_NEW_LOCK, ".python-version": "3.12\n"}),
    "a venv for tests": Shape(
        f"FROM nvidia/cuda:12.9.0-cudnn-devel-ubuntu24.04\n{APT}RUN python3 -m venv /venv\n"
        "RUN /venv/bin/pip install --no-cache-dir -U pip setuptools pytest\n", NEW_L4),
    "requirements of pyproject.toml": Shape(
        f"FROM nvcr.io/nvidia/cuda:12.8.1-cudnn-devel-ubuntu22.04\n{UV}RUN uv venv /opt/venv --python 3.10.14\n"
        "ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH\nCOPY pyproject.toml .\n"
        "RUN uv pip install -r pyproject.toml\n",
        NEW_H100, frozenset(), {"pyproject.toml": EXACT}),
    "the same for a newer GPU": Shape(
        f"FROM nvcr.io/nvidia/cuda:12.8.1-cudnn-devel-ubuntu22.04\n{UV}RUN uv venv /opt/venv --python 3.10.14\n"
        "ENV VIRTUAL_ENV=/opt/venv PATH=/opt/venv/bin:$PATH\nWORKDIR /app\nCOPY pyproject.toml .\n"
        "RUN uv pip install -r pyproject.toml\n",
        BLACKWELL, frozenset({"gpu-too-new-for-cuda pyproject.toml:3"}), {"pyproject.toml": EXACT}, 1),
    "a source build that has nvcc": Shape(
        f"FROM nvidia/cuda:12.9.0-cudnn-devel-ubuntu22.04\n{APT}"
        "RUN apt-get install -y python3.11 python3.11-venv && "
        "update-alternatives --install /usr/bin/python3 python3 /usr/bin/python3.11 1\n"
        f"RUN python3 -m pip install --no-cache-dir torch==2.8.0 torchvision==0.23.0 --index-url {WHL}/cu129\n"
        "RUN python3 -m pip install --no-cache-dir git+https://github.com/facebookresearch/pytorch3d\n", NEW_L4),
    "a base image of NVIDIA's whose contents no name tells": Shape(
        "FROM nvcr.io/nvidia/pytorch:23.04-py3\nRUN pip install --no-cache-dir ninja deepspeed==0.10.3\n", NONE,
        status=4),
    "a project that takes the base's torch out": Shape(
        "FROM pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime\nCOPY ./ /app\n"
        "RUN cd /app && pip install --no-cache-dir .\n",
        A100, frozenset({"framework-not-pinned pyproject.toml:4", "driver-too-old-for-runtime pyproject.toml:4"}),
        {"pyproject.toml": PROJECT}, 1),
    "an ended index for a newer GPU": Shape(
        f"FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n{APT}"
        f"RUN pip install --no-cache-dir torch torchvision torchaudio --index-url {WHL}/cu121\n"
        "RUN pip install --no-cache-dir packaging ninja transformers\n",
        BLACKWELL, frozenset({"gpu-too-new-for-cuda Dockerfile:3"}), status=1),
    "the same for its own GPU": Shape(
        f"FROM nvidia/cuda:12.1.1-devel-ubuntu22.04\n{APT}"
        f"RUN pip install --no-cache-dir torch torchvision torchaudio --index-url {WHL}/cu121\n"
        "RUN pip install --no-cache-dir packaging ninja transformers\n", A100),
    "the system's pip": Shape(
        f"FROM ubuntu:24.04\n{APT}RUN pip install --no-cache-dir torch==2.6.0\n", L4,
        frozenset({"dockerfile-pip-refuses Dockerfile:3"}), status=1),
    "conda chooses": Shape(
        "FROM mambaorg/micromamba:latest\nCOPY environment.yaml /tmp/env.yaml\nENV CONDA_OVERRIDE_CUDA=12.8\n"
        "RUN micromamba install -y -n base -f /tmp/env.yaml\n", L4, frozenset(),
        {"environment.yaml": "dependencies:\n  - python=3.12\n  - pytorch\n"}, 4),
    "PyTorch's own channel": Shape(
        "FROM condaforge/miniforge3\nCOPY pytorch.yml pytorch.yml\nRUN mamba env update -n base --file pytorch.yml\n",
        BLACKWELL, frozenset({"gpu-too-new-for-cuda pytorch.yml:5"}), {"pytorch.yml": CONDA}, 1),
    "a base image by its ARG lines": Shape(
        f"ARG cuda=11.2.2\nARG ubuntu=20.04\nFROM nvidia/cuda:${{cuda}}-cudnn8-runtime-ubuntu${{ubuntu}}\n{APT}"
        f"RUN python3 -m pip install --no-cache-dir torch==1.8.1+cu111 -f {WHL}/torch_stable.html\n",
        H100, frozenset({"gpu-too-new-for-cuda Dockerfile:5"}), status=1),
    "today's torch for an older driver": Shape(
        f"FROM nvidia/cuda:12.4.1-devel-ubuntu22.04\n{APT}RUN pip3 install torch --no-cache-dir\n", L4,
        frozenset({"driver-too-old-for-runtime Dockerfile:3", "framework-not-pinned Dockerfile:3"}), status=1),
    "a list of GPUs that lacks the one": Shape(
        f"FROM nvidia/cuda:12.6.3-devel-ubuntu22.04\n{APT}ARG TORCH_CUDA_ARCH_LIST=\"7.5;8.0;8.9\"\n"
        "RUN pip install --no-cache-dir torch==2.6.0\nRUN pip install --no-cache-dir --no-build-isolation gsplat\n",
        NEW_H100,
        frozenset({"dockerfile-targets-lack-gpu Dockerfile:4"})),
    "poetry's lock in the base's Python": Shape(
        "FROM pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel\nWORKDIR /a\nCOPY pyproject.toml poetry.lock ./\n"
        "RUN pip install --no-cache-dir poetry && poetry config virtualenvs.create false && poetry install --no-root\n",
        BLACKWELL, frozenset({"gpu-too-new-for-cuda poetry.lock:2"}),
        {"poetry.lock": POETRY, "pyproject.toml": EXACT.replace("2.5.1", "2.4.1")}, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str, tmp_path: Path) -> None:
    shape = SHAPES[name]
    for file, content in shape.files.items():
        (tmp_path / file).write_text(content)
    gpu, driver = shape.where
    given: dict[str, Any] = {"assume_gpus": (gpu,), "assume_driver": driver} if gpu else {}
    said = report(tmp_path, shape.text, **given)
    roots = [one for one in said.findings if one.severity is not Severity.INFO and not one.explained_by]
    lines = {
        one.code: {f"{Path(each.file).name}:{each.line}" for each in one.evidence if each.file and each.line}
        for one in roots
    }
    expected = dict(one.split() for one in shape.faults)
    assert lines.keys() == expected.keys(), [one.summary for one in roots]
    assert all(line in lines[code] for code, line in expected.items()), lines
    assert exit_status(said, Severity.ERROR) == shape.status, [
        one.why for one in said.answers if one.blocks_verdict and one.kind.value == "unknown"
    ]


@pytest.mark.parametrize(
    ("image", "python", "system", "framework"),
    [
        ("ghcr.io/astral-sh/uv:python3.12-bookworm-slim", "3.12", ("debian", "12"), ""),
        ("ghcr.io/astral-sh/uv:0.9.27-python3.13-trixie", "3.13", ("debian", "13"), ""),
        ("python:3.11-slim-bullseye", "3.11", ("debian", "11"), ""),
        ("ubuntu:noble", "", ("ubuntu", "24.04"), ""),
        ("debian:bookworm-slim", "", ("debian", "12"), ""),
        ("python:3.12", "3.12", ("", ""), ""),
        ("vllm/vllm-openai:v0.8.5", "", ("", ""), "vllm==0.8.5"),
        ("vllm/vllm-openai:latest", "", ("", ""), ""),
    ],
)
def test_what_the_name_of_a_base_image_tells(image: str, python: str, system: tuple[str, str], framework: str) -> None:
    base = base_of(image, Place("Dockerfile", 1))
    assert (base.python, base.distribution, base.framework) == (python, system, framework)
