"""The pre-commit hooks and the GitHub action: their files, and their steps run by bash."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are for bash")
ROOT = Path(__file__).resolve().parents[2]
FINE = "FROM python:3.12\nRUN pip install --no-cache-dir torch==2.9.1\n"
FAULTY = "FROM nvidia/cuda:11.8-devel-ubuntu22.04\n"
OPEN = "FROM example.org/of/mine:1\n"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A `gpudoctor` on PATH that is this one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "gpudoctor"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/gpudoctor.py" "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def hooks() -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


@pytest.mark.parametrize(
    ("hook", "path", "is_taken"),
    [
        ("gpudoctor-dockerfile", "Dockerfile", True),
        ("gpudoctor-dockerfile", "docker/Dockerfile.gpu", True),
        ("gpudoctor-dockerfile", "train.dockerfile", True),
        ("gpudoctor-dockerfile", "Containerfile", True),
        ("gpudoctor-dockerfile", "docs/Dockerfiles.md", False),
        ("gpudoctor-dockerfile", "Dockerfile.dockerignore", False),
        ("gpudoctor-dockerfile", "Dockerfile.j2", False),
        ("gpudoctor-lock", "uv.lock", True),
        ("gpudoctor-lock", "a/pylock.dev.toml", True),
        ("gpudoctor-lock", "requirements-gpu.txt", True),
        ("gpudoctor-lock", "environment.yml", True),
        ("gpudoctor-lock", "package-lock.json", False),
    ],
)
def test_which_files_a_hook_takes(hook: str, path: str, is_taken: bool) -> None:
    one = hooks()[hook]
    left_out = "exclude" in one and re.search(one["exclude"], path)
    assert bool(re.search(one["files"], path) and not left_out) is is_taken


@pytest.mark.parametrize(
    ("hook", "files", "status"),
    [
        ("gpudoctor-dockerfile", {"Dockerfile": FINE, "b.dockerfile": FINE}, 0),
        ("gpudoctor-dockerfile", {"Dockerfile": FINE, "b.dockerfile": FAULTY}, 1),
        ("gpudoctor-dockerfile", {"Dockerfile": OPEN}, 0),  # what is unknown stops no commit
        ("gpudoctor-dockerfile", {"Dockerfile": "NONSENSE\n"}, 1),
        ("gpudoctor-lock", {"requirements.txt": "torch==2.9.1\n"}, 0),
        ("gpudoctor-lock", {"a b.txt": "torch==2.9.1\n", "uv.lock": "version = 9\n"}, 1),
    ],
)
def test_a_hook_runs(hook: str, files: dict[str, str], status: int, tmp_path: Path, environ: dict[str, str]) -> None:
    """As pre-commit runs it: the entry, then the files."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    entry = re.fullmatch(r"bash -c '(.*)' --", hooks()[hook]["entry"])
    assert entry is not None
    argv = ["bash", "-c", entry[1], "--", *files]
    assert subprocess.run(argv, cwd=tmp_path, env=environ, capture_output=True, check=False).returncode == status


def step(name: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    return next(one for one in steps if one["name"] == name)


def run_action(folder: Path, environ: dict[str, str], **given: str) -> tuple[int, str, str, str]:
    """Exit status, annotations, summary and outputs of the step that checks."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: given.get(name.replace("-", "_"), one["default"]) for name, one in action["inputs"].items()}
    put = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)
        for name, text in step("Check")["env"].items()
    }
    summary, outputs = folder / "summary", folder / "outputs"
    more = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(outputs)}
    argv = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step("Check")["run"]]
    ran = subprocess.run(argv, cwd=folder, env={**environ, **put, **more}, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, summary.read_text() if summary.exists() else "", outputs.read_text()


def test_the_action_fails_for_a_fault(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "Dockerfile").write_text(FAULTY)
    (tmp_path / "good").write_text(FINE)
    status, annotations, summary, outputs = run_action(tmp_path, environ, dockerfile="good\nDockerfile")
    assert (status, outputs) == (1, "status=1\n")
    assert re.search(r"^::error .*file=Dockerfile,line=1", annotations, re.MULTILINE), annotations
    assert "### Dockerfile" in summary
    assert "base-image-unknown" in summary


def test_the_action_takes_a_lock_file_and_a_gpu(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.5.1\n")
    given = {"lock": "requirements.txt", "platform": "linux/amd64"}
    assert run_action(tmp_path, environ, **given)[0] == 0
    assert run_action(tmp_path, environ, **given, assume_gpu="RTX 5090", assume_driver="580.65.06")[0] == 1


def test_the_action_prints_the_table_of_several_platforms(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.8.0\n")
    for platform, status in (("linux/amd64,linux/arm64", 0), ("all", 0), ("all,nonsense", 2)):
        given = {"lock": "requirements.txt", "platform": platform}
        assert run_action(tmp_path, environ, **given)[0] == status


def test_what_is_unknown_fails_only_if_asked(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "Dockerfile").write_text(OPEN)
    status, _, _, outputs = run_action(tmp_path, environ, dockerfile="Dockerfile")
    assert (status, outputs) == (0, "status=4\n")
    (tmp_path / "outputs").unlink()
    assert run_action(tmp_path, environ, dockerfile="Dockerfile", fail_on_unknown="true")[0] == 4


def test_no_input_is_put_into_a_script() -> None:
    """An expression in a script would run what a pull request writes."""
    for name in ("Install gpudoctor", "Check"):
        assert "${{" not in step(name)["run"]
