"""devcontainer.json: its image or Dockerfile, and the commands that run when the container is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.check.command import CheckSubject, report_of
from doctor.model.finding import Report
from doctor.script.parse import DockerfileError

COMMENTED = """// a comment with "quotes"
{
\t"image": "python:3.12", /* and
   another */
\t"containerEnv": {"URL": "http://x//y"},
\t"postCreateCommand": {
\t\t"first": "pip install torch==2.5.1",
\t\t"then": ["pip", "install", "-r", "requirements.txt"],
\t},
}
"""
GPU = {"hostRequirements": {"gpu": True}}


def report(folder: Path, said: str | dict[str, Any], **files: str) -> Report:
    """The report of .devcontainer/devcontainer.json in a project with these files."""
    for name, text in {**files, ".devcontainer/devcontainer.json": said}.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text, indent=1))
    given: dict[str, Any] = {"assume_gpus": ("RTX 5090",), "assume_driver": "580.65.06", "platform": "linux/amd64"}
    path = folder / ".devcontainer/devcontainer.json"
    return report_of(CheckSubject(dockerfile=str(path), policy="", **given), 0.0)


def pinned(said: Report) -> set[str]:
    frameworks = [one for each in said.facts.environments.get() for one in each.frameworks.get()]
    return {f"{one.label} {Path(one.pinned_at.file).name}:{one.pinned_at.line}" for one in frameworks if one.pinned_at}


def test_comments_lists_and_files(tmp_path: Path) -> None:
    said = report(tmp_path, COMMENTED, **{"requirements.txt": "xgboost==2.1.4\n"})
    assert pinned(said) == {"torch 2.5.1+cu124 devcontainer.json:7", "xgboost 2.1.4 requirements.txt:1"}
    codes = {one.code for one in said.findings}
    assert {"gpu-too-new-for-cuda", "compose-gpu-not-reserved"} <= codes
    assert "dockerfile-caches-left" not in codes


@pytest.mark.parametrize("given", [GPU, {"runArgs": ["--gpus", "all"]}, {"runArgs": ["--gpus=all"]}])
def test_gpus_are_given(given: dict[str, Any], tmp_path: Path) -> None:
    said = report(tmp_path, {"image": "python:3.12", "onCreateCommand": "pip install torch==2.9.1", **given})
    assert [one.code for one in said.findings] == []


def test_a_dockerfile_with_its_context_stage_and_arguments(tmp_path: Path) -> None:
    build = {"dockerfile": "Dockerfile", "context": "..", "args": {"TORCH": "2.5.1"}, "target": "dev"}
    text = "FROM python:3.12 AS dev\nARG TORCH=2.9.1\nRUN pip install --no-cache-dir torch==$TORCH\nFROM alpine\n"
    said = {
        "build": build,
        "containerEnv": {"CUDA_VISIBLE_DEVICES": ""},
        "updateContentCommand": "pip install -e .",
        **GPU,
    }
    made = report(tmp_path, said, **{".devcontainer__Dockerfile": text})
    assert pinned(made) == {"torch 2.5.1+cu124 Dockerfile:3"}
    places = {one.code: [link.source for link in one.evidence] for one in made.findings}
    assert "Dockerfile:3" in " ".join(places["gpu-too-new-for-cuda"])
    assert any(one.startswith("devcontainer.json:") for one in places["cuda-visible-devices-empty-or-invalid"])


def test_a_compose_file(tmp_path: Path) -> None:
    compose = "services:\n  db:\n    image: postgres\n  app:\n    build: .\n"
    said = {"dockerComposeFile": "../compose.yaml", "service": "app"}
    made = report(
        tmp_path, said, **{"compose.yaml": compose, "Dockerfile": "FROM python:3.12\nRUN pip install torch==2.5.1\n"}
    )
    assert pinned(made) == {"torch 2.5.1+cu124 Dockerfile:2"}


def test_a_feature_that_may_install_anything_leaves_it_open(tmp_path: Path) -> None:
    features: dict[str, Any] = {
        "ghcr.io/devcontainers/features/nvidia-cuda:1": {},
        "ghcr.io/devcontainers/features/git:1": {},
    }
    made = report(
        tmp_path, {"image": "python:3.12", "features": features, "postCreateCommand": "pip install torch==2.9.1"}
    )
    unread = [one.what for one in made.facts.dockerfile.get().unread]
    assert unread == ["runs ./features/nvidia-cuda/install.sh"]


@pytest.mark.parametrize(
    "said", ["", "[]", "{", '{"name": "x"}', '{"build": {"dockerfile": "Nope"}}', '{"dockerComposeFile": ["a", "b"]}']
)
def test_what_cannot_be_read_is_one_line(said: str, tmp_path: Path) -> None:
    with pytest.raises(DockerfileError, match="devcontainer"):
        report(tmp_path, said)


@pytest.mark.parametrize("tag", ["3.13", "3.13-bookworm", "2-3.13", "2.0.0-3.13-trixie"])
def test_the_python_of_a_prebuilt_image(tag: str, tmp_path: Path) -> None:
    """torch 2.4.1 has no wheel for it. The tags are those of the image's README."""
    image = {"image": f"mcr.microsoft.com/devcontainers/python:{tag}", "postCreateCommand": "pip install torch==2.4.1"}
    assert "python-version-no-wheel" in {one.code for one in report(tmp_path, {**image, **GPU}).findings}
