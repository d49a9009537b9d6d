"""Dockerfiles as people write them: nothing is said of a healthy one."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.diagnose import exit_status
from doctor.model.finding import Severity
from tests.commands.dockerfile.judged import found, report

_CLEAN = "rm -rf /var/lib/apt/lists/*"
PLAIN, PIP = "FROM python:3.12\n", "pip install --no-cache-dir"
HEALTHY = {
    "slim": "FROM python:3.12-slim\nRUN pip install --no-cache-dir torch==2.9.1\nCMD python train.py\n",
    "cuda runtime": f"""# syntax=docker/dockerfile:1
ARG CUDA_VERSION=12.8.1
ARG OS=ubuntu24.04
FROM nvidia/cuda:${{CUDA_VERSION}}-cudnn-runtime-${{OS}}
ENV DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1
RUN apt-get update \\
    # python alone
    && apt-get install -y --no-install-recommends python3-pip python3-venv \\

    && {_CLEAN}
RUN python3 -m venv /opt/venv
ENV PATH="/opt/venv/bin:$PATH"
RUN pip install torch==2.9.1 torchvision==0.24.1 --index-url https://download.pytorch.org/whl/cu128
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENTRYPOINT ["python", "train.py"]
""",
    "two stages": f"""FROM nvidia/cuda:12.8.1-devel-ubuntu22.04 AS build
RUN apt-get update && apt-get install -y cmake git && {_CLEAN}
COPY . /src
RUN cmake -S /src -B /build -DGGML_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="80;90" && cmake --build /build -j
FROM nvidia/cuda:12.8.1-base-ubuntu22.04
COPY --from=build /build/bin /usr/local/bin
""",
    "compiler added": f"""FROM nvidia/cuda:12.8.1-runtime-ubuntu22.04
RUN apt-get update && apt-get install -y cuda-nvcc-12-8 && {_CLEAN}
RUN nvcc -o /app app.cu
""",
    "pytorch": """FROM pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel
ENV TORCH_CUDA_ARCH_LIST="8.0 9.0+PTX"
RUN --mount=type=cache,target=/root/.cache/pip pip install flash-attn --no-build-isolation
""",
    "tensorflow": "FROM tensorflow/tensorflow:2.15.0-gpu-jupyter\nRUN pip install --no-cache-dir pandas\n",
    "uv": """FROM python:3.12-slim
COPY --from=ghcr.io/astral-sh/uv:latest /uv /bin/uv
RUN uv pip install --system --torch-backend=cu128 torch==2.9.1
""",
    "jax, here-document": """FROM python:3.11
RUN <<EOF
set -eux
pip install --no-cache-dir 'jax[cuda12]==0.7.0'
EOF
COPY <<-'END' /etc/motd
\tFROM nowhere
\tEND
CMD ["python"]
""",
    "paths": """FROM nvidia/cuda:12.4.1-devel-rockylinux9
ENV LD_LIBRARY_PATH="/opt/lib:${LD_LIBRARY_PATH}"
RUN export LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LD_LIBRARY_PATH && nvcc -o a a.cu
""",
    "driver files that are taken away again": f"""FROM ubuntu:22.04
RUN apt-get update && apt-get install -y --no-install-recommends cuda && {_CLEAN}
RUN rm -rf /usr/lib/x86_64-linux-gnu/libnv*
RUN rm -rf /usr/lib/x86_64-linux-gnu/libcuda*
""",
    "stubs that a small image has not": """FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04
ENV LD_LIBRARY_PATH="/usr/local/mpi/lib:/usr/local/cuda/lib64/stubs:$LD_LIBRARY_PATH"
""",
    "conda": """FROM continuumio/miniconda3
RUN conda install -y -c pytorch -c nvidia pytorch==2.5.1 pytorch-cuda=12.4
""",
    "small letters, backticks": """# escape=`
from python:3.12-slim as a
run pip install `
  --no-cache-dir torch==2.9.1
""",
    "pip's option by its beginning": """FROM python:3.12
RUN pip install --no-cache torch==2.9.1
""",
    "an environment that is activated": """FROM python:3.12-slim
RUN python3 -m venv /opt/v && . /opt/v/bin/activate && pip install --no-cache-dir torch==2.9.1
ENV PATH=/opt/v/bin:$PATH
""",
    "an unused stage": """FROM ubuntu AS bad
RUN apt-get install -y nvidia-driver-550
FROM python:3.12-slim
RUN true
""",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_silent(name: str, tmp_path: Path) -> None:
    said = report(tmp_path, HEALTHY[name])
    assert found(said, info=True) == []
    assert exit_status(said, Severity.ERROR) == 0, [
        one for one in said.answers if one.kind.value == "unknown" and one.blocks_verdict
    ]


OPEN = {
    "either, by an argument": (
        f'{PLAIN}ARG DEVICE=cuda\nRUN if [ "$DEVICE" = cpu ]; then {PIP} torch==1.0.0; else {PIP} torch==2.9.1; fi\n',
        "Dockerfile:3 may install torch==2.9.1",
    ),
    "NVIDIA's own image": ("FROM nvcr.io/nvidia/pytorch:25.01-py3\n", "Dockerfile:1 starts from"),
    "an image of somebody's": ("FROM example/base:1\n", "Dockerfile:1 starts from"),
    "an image without a release": ("FROM pytorch/pytorch\n", "Dockerfile:1 starts from"),
    "a file that is not there": (f"{PLAIN}RUN {PIP} -r requirements.txt\n", "Dockerfile:2 reads requirements.txt"),
    "a file that a command writes": (f"{PLAIN}RUN bash -c '{PIP} -r <(grep torch all.txt)'\n", "Dockerfile:2 reads"),
    "a lock file": (f"{PLAIN}COPY uv.lock .\nRUN uv sync --frozen\n", "Dockerfile:3 runs uv"),
    "a project": (f"{PLAIN}RUN {PIP} .\n", "Dockerfile:2 installs ."),
    "an address": (f"{PLAIN}RUN {PIP} git+https://example.org/a.git\n", "Dockerfile:2 installs git+https"),
    "an editable project": (f"{PLAIN}RUN {PIP} -e ./src\n", "Dockerfile:2 installs ./src"),
    "a lock file in another stage": (
        f"{PLAIN[:-1]} AS b\nRUN uv sync --frozen\n{PLAIN}COPY --from=b /app/.venv /app/.venv\n",
        "Dockerfile:2 runs uv",
    ),
    "a package of an index that nothing is known of": (
        f"{PLAIN}RUN {PIP} -U vllm --extra-index-url https://example.org/nightly\n",
        "Dockerfile:2 installs vllm, version unknown",
    ),
    "a script": (f"{PLAIN}RUN ./install.sh\n", "Dockerfile:2 runs ./install.sh"),
    "an index that nothing is known of": (
        f"{PLAIN}RUN {PIP} torch -i https://example.org/x\n",
        "installs torch, version unknown",
    ),
    "a builder's variable": (f"{PLAIN}ARG V\nRUN {PIP} torch==$V\n", "Dockerfile:3 installs torch==${V}"),
    "conda without a release": ("FROM continuumio/miniconda3\nRUN conda install pytorch\n", "installs pytorch"),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_was_not_read_is_shown(name: str, tmp_path: Path) -> None:
    text, line = OPEN[name]
    said = report(tmp_path, text)
    assert (said.verdict, exit_status(said, Severity.ERROR)) == ("unknown", 4)
    [answer] = [one for one in said.answers if one.kind.value == "unknown" and one.blocks_verdict]
    assert answer.code == "plan-incomplete"
    assert line in answer.why
