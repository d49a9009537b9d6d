"""Commands that install what a lock file or project of the build context lists: read, with the file's own lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.diagnose import exit_status
from doctor.model.facts.seen import value_or
from doctor.model.finding import Severity
from tests.commands.dockerfile.judged import facts, found, report

WHL = "https://download.pytorch.org/whl"
PROJECT = f"""[project]
name = "mine"
requires-python = ">=3.10"
dependencies = ["torch==2.7.1"]
[project.optional-dependencies]
gpu = ["onnxruntime-gpu==1.22.0"]
every = ["mine[gpu]"]
[dependency-groups]
dev = ["jaxlib==0.6.0", {{ include-group = "more" }}]
more = ["cupy-cuda12x==13.4.1"]
[tool.uv.sources]
torch = {{ index = "of-mine" }}
[[tool.uv.index]]
name = "of-mine"
url = "{WHL}/cu128"
explicit = true
"""
LOCK = f"""version = 1
requires-python = ">=3.10"

[[package]]
name = "mine"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [{{ name = "torch" }}]

[package.optional-dependencies]
gpu = [{{ name = "onnxruntime-gpu" }}]

[package.dev-dependencies]
dev = [{{ name = "jaxlib" }}]

[[package]]
name = "jaxlib"
version = "0.6.0"
source = {{ registry = "https://example.org/simple" }}

[[package]]
name = "onnxruntime-gpu"
version = "1.22.0"
source = {{ registry = "https://example.org/simple" }}

[[package]]
name = "torch"
version = "2.6.0+cu124"
source = {{ registry = "{WHL}/cu124" }}
"""
POETRY_PROJECT = """[tool.poetry.dependencies]
python = "^3.10"
torch = {version = "^2.6.0", source = "torch-index"}
[tool.poetry.group.test]
optional = true
[tool.poetry.group.dev.dependencies]
onnxruntime-gpu = "1.22.0"
[[tool.poetry.source]]
name = "torch-index"
url = "https://download.pytorch.org/whl/cu124"
"""
POETRY = """[[package]]
name = "torch"
version = "2.6.0"
groups = ["main"]

[[package]]
name = "onnxruntime-gpu"
version = "1.22.0"
groups = ["test"]
"""
PDM = """[[package]]
name = "torch"
version = "2.7.1"
groups = ["default"]
[[package]]
name = "onnxruntime-gpu"
version = "1.22.0"
groups = ["gpu"]
"""
PIPENV = """{"_meta": {"sources": [{"name": "x", "url": "https://example.org/simple"}]},
"default": {
 "torch": {"version": "==2.7.1", "index": "x"}},
"develop": {
 "onnxruntime-gpu": {"version": "==1.22.0", "index": "x"}}}
"""
PIXI = """version: 6
environments:
  default:
    packages:
      linux-64:
      - pypi: https://example.org/torch-2.7.1-cp312-cp312-manylinux_2_28_x86_64.whl
  gpu:
    packages:
      linux-64:
      - pypi: https://example.org/torch-2.6.0-cp312-cp312-manylinux_2_28_x86_64.whl
packages: []
"""
UV = {"pyproject.toml": PROJECT, "uv.lock": LOCK}
ALONE = {"pyproject.toml": PROJECT}
APP = "FROM python:3.12\nWORKDIR /app\nCOPY . .\n"


def brought(folder: Path, text: str, files: dict[str, str]) -> dict[str, str]:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    made = [one for each in value_or(facts(folder, text).environments, ()) for one in value_or(each.frameworks, ())]
    return {one.label: str(one.pinned_at).removeprefix(f"{folder}/") for one in made}


@pytest.mark.parametrize(
    ("files", "run", "expected"),
    [
        (UV, "uv sync --frozen --no-dev", {"torch 2.6.0+cu124": "uv.lock:27"}),
        (UV, "uv sync", {"torch 2.6.0+cu124": "uv.lock:27", "jaxlib 0.6.0+cpu": "uv.lock:17"}),
        (UV, "uv run --no-dev python -c x", {"torch 2.6.0+cu124": "uv.lock:27"}),
        (UV, "uv sync --no-dev --extra gpu",
         {"torch 2.6.0+cu124": "uv.lock:27", "onnxruntime-gpu 1.22.0": "uv.lock:22"}),
        (UV, "uv sync --only-group dev", {"jaxlib 0.6.0+cpu": "uv.lock:17"}),
        (UV, "uv sync --no-dev --no-install-package torch", {}),
        (UV, "uv run --no-sync python -c x", {}),
        (UV, "uv sync --no-dev && uv pip install torch==2.9.1", {"torch 2.9.1+cu128": "Dockerfile:4"}),
        (UV, "uv export --frozen --no-dev -o r.txt && uv pip install -r r.txt", {"torch 2.6.0+cu124": "uv.lock:27"}),
        (UV, "uv export --no-dev > r.txt && pip install -r r.txt", {"torch 2.6.0+cu124": "uv.lock:27"}),
        (ALONE, "uv sync --no-dev", {"torch 2.7.1+cu128": "pyproject.toml:4"}),
        (ALONE, "uv sync --no-default-groups --extra every",
         {"torch 2.7.1+cu128": "pyproject.toml:4", "onnxruntime-gpu 1.22.0": "pyproject.toml:6"}),
        (ALONE, "pip install .", {"torch 2.7.1+cu126": "pyproject.toml:4"}),  # pip reads no [tool.uv]
        (ALONE, "pip install -e '.[gpu]'",
         {"torch 2.7.1+cu126": "pyproject.toml:4", "onnxruntime-gpu 1.22.0": "pyproject.toml:6"}),
        (ALONE, f"pip install . --index-url {WHL}/cu118", {"torch 2.7.1+cu118": "pyproject.toml:4"}),
        (ALONE, "uv pip install -r pyproject.toml", {"torch 2.7.1+cu128": "pyproject.toml:4"}),
        ({"a/pyproject.toml": PROJECT}, "pip install ./a", {"torch 2.7.1+cu126": "a/pyproject.toml:4"}),
        ({"pyproject.toml": POETRY_PROJECT, "poetry.lock": POETRY}, "poetry install",
         {"torch 2.6.0+cu124": "poetry.lock:2"}),
        ({"pyproject.toml": POETRY_PROJECT, "poetry.lock": POETRY}, "poetry install --with test",
         {"torch 2.6.0+cu124": "poetry.lock:2", "onnxruntime-gpu 1.22.0": "poetry.lock:7"}),
        ({"pyproject.toml": POETRY_PROJECT}, "poetry install --only main", {"torch 2.6.0+cu124": "pyproject.toml:3"}),
        ({"pyproject.toml": PROJECT, "pdm.lock": PDM}, "pdm install --prod", {"torch 2.7.1+cu126": "pdm.lock:2"}),
        ({"pyproject.toml": PROJECT, "pdm.lock": PDM}, "pdm sync -G gpu",
         {"torch 2.7.1+cu126": "pdm.lock:2", "onnxruntime-gpu 1.22.0": "pdm.lock:6"}),
        ({"Pipfile.lock": PIPENV}, "pipenv sync", {"torch 2.7.1+cu126": "Pipfile.lock:3"}),
        ({"Pipfile.lock": PIPENV}, "pipenv install --deploy --dev",
         {"torch 2.7.1+cu126": "Pipfile.lock:3", "onnxruntime-gpu 1.22.0": "Pipfile.lock:5"}),
        ({"pixi.lock": PIXI}, "pixi install --locked", {"torch 2.7.1+cu126": "pixi.lock:6"}),
        ({"pixi.lock": PIXI}, "pixi install -e gpu", {"torch 2.6.0+cu124": "pixi.lock:10"}),
    ],
)  # fmt: skip
def test_what_is_brought(files: dict[str, str], run: str, expected: dict[str, str], tmp_path: Path) -> None:
    assert brought(tmp_path, f"{APP}RUN {run}\n", files) == expected


@pytest.mark.parametrize(
    ("files", "text", "why"),
    [
        ({}, f"{APP}RUN uv sync\n", "none was found"),
        (ALONE, f"{APP}RUN uv sync --frozen\n", "none was found"),
        (UV, "FROM python:3.12\nWORKDIR /app\nRUN uv sync\n", "none was found"),  # it is not copied
        ({**UV, "uv.lock": "version = 9\n"}, f"{APP}RUN uv sync\n", "reads version 1"),
        ({**UV, "uv.lock": "[[["}, f"{APP}RUN uv sync\n", "it is not TOML"),
        ({"pyproject.toml": "[[["}, f"{APP}RUN pip install .\n", "it cannot be read"),
        ({"pyproject.toml": "project = 3\n"}, f"{APP}RUN pip install .\n", "it cannot be read"),
        ({"pyproject.toml": "[project]\ndependencies = 3\n"}, f"{APP}RUN pip install .\n", "it cannot be read"),
        ({"pyproject.toml": "[project]\nname = 'a'\ndynamic = ['dependencies']\n"}, f"{APP}RUN pip install .\n",
         "its build decides"),
        (UV, f"{APP}RUN uv sync --package other\n", "it has no member other"),
        ({"pixi.lock": PIXI}, f"{APP}RUN pixi install\n", ""),
    ],
)  # fmt: skip
def test_what_was_not_read_is_listed(files: dict[str, str], text: str, why: str, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    made = report(tmp_path, text)
    assert exit_status(made, Severity.ERROR) == (4 if why else 0)
    told = value_or(made.facts.dockerfile, None)
    assert told is not None
    assert any(why in one.what for one in told.unjudged) or not why


def test_files_of_requirements_that_a_project_names_are_read(tmp_path: Path) -> None:
    dynamic = "[project]\nname = 'a'\ndynamic = ['dependencies']\n[tool.setuptools.dynamic]\n"
    files = {"pyproject.toml": f"{dynamic}dependencies = {{file = ['r.txt']}}\n", "r.txt": "numpy\ntorch==2.7.1\n"}
    assert brought(tmp_path, f"{APP}RUN pip install .\n", files) == {"torch 2.7.1+cu126": "r.txt:2"}


def test_a_project_that_compiles_needs_nvcc(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    (tmp_path / "setup.py").write_text("from torch.utils.cpp_extension import CUDAExtension\n")
    assert found(report(tmp_path, f"{APP}RUN pip install .\n")) == ["dockerfile-nvcc-missing"]
    devel = "FROM nvidia/cuda:12.8.1-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip\n"
    assert found(report(tmp_path, f"{devel}COPY . /a\nRUN pip install /a\n")) == []


BLACKWELL: dict[str, Any] = {"assume_gpus": ("RTX 5090",), "assume_driver": "580.65.06"}


def test_a_locked_build_without_code_for_the_gpu(tmp_path: Path) -> None:
    """The remedy changes the project: neither the lock file nor the Dockerfile."""
    for name, content in UV.items():
        (tmp_path / name).write_text(content)
    made = report(tmp_path, f"{APP}RUN uv sync --no-dev\n", **BLACKWELL)
    [finding] = [one for one in made.findings if one.severity is Severity.ERROR]
    assert finding.code == "gpu-too-new-for-cuda"
    assert any(one.line == 27 and str(one.file).endswith("uv.lock") for one in finding.evidence)
    first = "\n".join(finding.remedies[0].commands)
    assert "pyproject.toml" in first
    assert "pip install" not in first
    (tmp_path / "uv.lock").write_text(LOCK.replace("2.6.0+cu124", "2.7.1+cu128").replace("cu124", "cu128"))
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\ndependencies = ["torch==2.7.1"]\n')
    assert found(report(tmp_path, f"{APP}RUN uv sync --no-dev\n", **BLACKWELL)) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("COPY <<EOF /app/r.txt\n# ours\ntorch==2.7.1\nEOF\nRUN pip install -r r.txt\n", 6),
        ("RUN <<EOF\nset -e\ncat > /tmp/r.txt <<X\ntorch==2.7.1\nX\npip install -r /tmp/r.txt\nEOF\n", 7),
        ("RUN echo 'torch==2.7.1' > r.txt && pip install -r r.txt\n", 4),
    ],
)
def test_files_that_lines_write_are_read(text: str, line: int, tmp_path: Path) -> None:
    assert brought(tmp_path, APP + text, {}) == {"torch 2.7.1+cu126": f"Dockerfile:{line}"}


@pytest.mark.parametrize(
    "text",
    [
        "RUN echo -e 'numpy\\ntorch==2.7.1' > r.txt\nRUN pip install -r r.txt\n",
        "RUN echo $X > r.txt && pip install -r r.txt\n",
        "RUN echo 'torch==2.7.1' >> r.txt && pip install -r r.txt\n",
        "RUN if [ -e x ]; then echo 'torch==2.7.1' > r.txt; fi && pip install -r r.txt\n",
        "RUN echo 'torch==2.7.1' > r.txt\nRUN sed -i s/2/3/ r.txt\nRUN pip install -r r.txt\n",
    ],
)
def test_files_that_are_not_known_whole_are_listed(text: str, tmp_path: Path) -> None:
    assert exit_status(report(tmp_path, APP + text), Severity.ERROR) == 4


def test_an_exported_lock_is_read_in_another_stage(tmp_path: Path) -> None:
    export = "RUN poetry export -f requirements.txt --output /tmp/r.txt --without-hashes\n"
    first = f"FROM python:3.12 AS b\nWORKDIR /tmp\nCOPY . .\n{export}"
    files = {"pyproject.toml": POETRY_PROJECT, "poetry.lock": POETRY}
    text = f"{first}FROM python:3.12\nWORKDIR /app\nCOPY --from=b /tmp/r.txt ./\nRUN pip install -r r.txt\n"
    assert brought(tmp_path, text, files) == {"torch 2.6.0+cu124": "poetry.lock:2"}
