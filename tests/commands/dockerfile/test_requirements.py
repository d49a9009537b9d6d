"""Files of requirements and of conda's environments, as COPY and `--mount` bring them from the build's context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.dockerfile.judged import found, report

PLAIN = "FROM python:3.12-slim\n"
COPY = f"{PLAIN}WORKDIR /app\nCOPY requirements.txt .\nRUN pip install --no-cache-dir -r requirements.txt\n"
CU121 = "--index-url https://download.pytorch.org/whl/cu121\n"
ENVIRONMENT = "FROM continuumio/miniconda3\nCOPY environment.yml /\nRUN conda env create -f /environment.yml\n"


def pinned(folder: Path, text: str, files: dict[str, str], **more: Any) -> dict[str, str]:
    """What is held to be installed, by the place of its pin."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    facts = report(folder, text, only=("check-error",), **more).facts
    return {
        one.label: one.note.removeprefix("pinned in ").removeprefix(f"{folder}/")
        for environment in facts.environments.get()
        for one in environment.frameworks.get()
    }


READ: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "copied": (COPY, {"requirements.txt": "# torch\n\nnumpy\ntorch==2.3.1\n"}, {"torch 2.3.1+cu121": "requirements.txt:4"}),
    "the whole context": (
        f"{PLAIN}WORKDIR /src\nCOPY . .\nRUN pip install -r docker/r.txt\n",
        {"docker/r.txt": f"{CU121}torch==2.2.0"},
        {"torch 2.2.0+cu121": "docker/r.txt:2"},
    ),
    "into a directory": (
        f"{PLAIN}COPY a.txt b.txt /tmp/\nRUN cd /tmp && pip install -r b.txt && rm b.txt\n",
        {"a.txt": "torch==1.0", "b.txt": "torch==2.5.0\n"},
        {"torch 2.5.0+cu124": "b.txt:1"},
    ),
    "a pattern": (
        f"{PLAIN}COPY req*.txt /tmp/\nRUN pip install -r/tmp/req-gpu.txt\n",
        {"req-gpu.txt": "torch==2.5.0"},
        {"torch 2.5.0+cu124": "req-gpu.txt:1"},
    ),
    "a mount": (
        f"{PLAIN}RUN --mount=type=cache,target=/c --mount=type=bind,source=r.txt,target=/r.txt pip install -r /r.txt\n",
        {"r.txt": "torch==2.5.0"},
        {"torch 2.5.0+cu124": "r.txt:1"},
    ),
    "of another stage": (
        f"FROM python:3.12 AS a\nCOPY . /src\n{PLAIN}COPY --from=a /src /b\nRUN pip install -r /b/r.txt\n",
        {"r.txt": "torch==2.5.0"},
        {"torch 2.5.0+cu124": "r.txt:1"},
    ),
    "nested, with a constraint": (
        COPY,
        {"requirements.txt": "-r below/more.txt\n", "below/more.txt": "-c pins.txt\ntorch\n", "below/pins.txt": "torch==2.5.0\njax==0.4.1"},
        {"torch 2.5.0+cu124": "below/pins.txt:1"},
    ),
    "a constraint of the command": (
        f"{PLAIN}COPY c.txt /\nRUN pip install torch -c /c.txt\n",
        {"c.txt": "torch==2.5.0"},
        {"torch 2.5.0+cu124": "c.txt:1"},
    ),
    "hashes": (
        COPY,
        {"requirements.txt": "torch==2.5.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\ntriton==3.1.0 --hash=sha256:cc  # x\n"},
        {"torch 2.5.0+cu124": "requirements.txt:1", "triton 3.1.0": "requirements.txt:4"},
    ),
    "markers": (
        COPY,
        {"requirements.txt": "torch==1.13.1; python_version < '3.9'\ntorch==2.5.0 ; sys_platform == 'linux' and python_version>='3.9'\n"
                             "jax==0.4.1;sys_platform=='darwin'"},
        {"torch 2.5.0+cu124": "requirements.txt:2"},
    ),
    "an index beside": (
        COPY,
        {"requirements.txt": "--extra-index-url=https://download.pytorch.org/whl/cu118\ntorch==2.5.0+cu118\n"},
        {"torch 2.5.0+cu118": "requirements.txt:2"},
    ),
    "uv's environment, of another stage": (
        f"FROM python AS a\nENV VIRTUAL_ENV=/venv\nRUN uv pip install torch==2.5.0\n{PLAIN}COPY --from=a /venv /venv\n",
        {},
        {"torch 2.5.0+cu124": "Dockerfile:3"},
    ),
    "itself": (COPY, {"requirements.txt": "-r requirements.txt\ntorch==2.5.0"}, {"torch 2.5.0+cu124": "requirements.txt:2"}),
    "environment.yml": (
        ENVIRONMENT,
        {"environment.yml": "name: gpu\ndependencies:\n- python=3.11\n- pip:\n  - --extra-index-url https://download.pytorch.org/whl/cu121\n"
                            "  - torch==2.3.1\n"},
        {"torch 2.3.1+cu121": "environment.yml:6"},
    ),
    "conda's own": (
        ENVIRONMENT,
        {"environment.yml": "channels: [pytorch]\ndependencies:\n- pytorch=2.1.0\n- pytorch-cuda=11.8\n"},
        {"torch 2.1.0": "environment.yml:3, by conda"},
    ),
}  # fmt: skip
# ruff: noqa: E501 - files in one line


@pytest.mark.parametrize("name", READ)
def test_read(name: str, tmp_path: Path) -> None:
    text, files, expected = READ[name]
    assert pinned(tmp_path, text, files) == expected


OPEN: dict[str, tuple[str, dict[str, str]]] = {
    "not there": (COPY, {}),
    "outside": (COPY.replace("requirements.txt .", "../requirements.txt ."), {"requirements.txt": "torch==2.5.0"}),
    "a link that leads out": (COPY, {}),
    "not copied": (f"{PLAIN}RUN pip install -r requirements.txt\n", {"requirements.txt": "torch==2.5.0"}),
    "of an image": (
        f"{PLAIN}COPY . /a\nCOPY --from=x/y /a /a\nRUN pip install -r /a/requirements.txt\n",
        {"requirements.txt": "torch==2.5.0"},
    ),
    "changed before": (
        COPY.replace("RUN ", "RUN sed -i s/5/6/ requirements.txt && "),
        {"requirements.txt": "torch==2.5.0"},
    ),
    "written anew": (
        COPY.replace("RUN ", "RUN pip freeze > requirements.txt\nRUN "),
        {"requirements.txt": "torch==2.5.0"},
    ),
    "a part that is not there": (COPY, {"requirements.txt": "-r other.txt\ntorch==2.5.0\n"}),
    "another Python": (
        COPY.replace("python:3.12-slim", "example/of:somebody"),
        {"requirements.txt": "torch==2.5.0; python_version>'3.8'"},
    ),
    "from an address": (COPY, {"requirements.txt": "torch @ https://example.org/torch.whl\n./torch-1.0.whl\n-e .\n"}),
    "conda without CUDA's release": (ENVIRONMENT, {"environment.yml": "dependencies:\n- pytorch=2.1.0\n"}),
    "no YAML": (ENVIRONMENT, {"environment.yml": "dependencies: [\n"}),
}


@pytest.mark.parametrize("name", OPEN)
def test_nothing_is_said(name: str, tmp_path: Path) -> None:
    text, files = OPEN[name]
    folder = tmp_path / "context"
    folder.mkdir()
    (tmp_path / "requirements.txt").write_text("torch==2.5.0")
    if name == "a link that leads out":
        (folder / "requirements.txt").symlink_to(tmp_path / "requirements.txt")
    assert pinned(folder, text, files) == {}


def test_the_line_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\ntorch==2.5.0\n")
    one = report(tmp_path, COPY, assume_driver="450.80.02").findings[0]
    assert any("requirements.txt:2" in link.source for link in one.evidence), one.evidence


def test_the_cuda_that_conda_is_asked_for_is_held_against_the_driver(tmp_path: Path) -> None:
    line = "FROM continuumio/miniconda3\nRUN conda install -y -c pytorch pytorch==2.1.0 pytorch-cuda={} && conda clean -ya\n"
    code = "driver-too-old-for-runtime"
    old = {"assume_driver": "450.80.02"}
    assert found(report(tmp_path, line.format("12.1"), **old)) == [code]
    assert found(report(tmp_path, line.format("12.1"), assume_driver="550.54.14")) == []
    assert found(report(tmp_path, line.replace("pytorch-cuda={} ", ""), **old)) == []
    assert found(report(tmp_path, line.format("12.1"))) == []


def test_conda_brings_nvcc(tmp_path: Path) -> None:
    (tmp_path / "environment.yml").write_text("dependencies:\n- nvidia::cuda-nvcc=12.4\n")
    assert found(report(tmp_path, f"{ENVIRONMENT}RUN nvcc a.cu\n")) == []
