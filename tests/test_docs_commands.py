"""Every command of the README, of the pages for beginners and of how it works is executed as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.cli import execute

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("first-steps", "reading-a-report", "exit-codes", "faq", "how-it-works")),
)
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANSWERS = {0, 1, 4}  # whatever the machine of the tests is; 2 is bad usage, 3 a fault


LOCK = """version = 1
requires-python = ">=3.12"
[[package]]
name = "project"
version = "1"
source = { virtual = "." }
"""


def commands() -> list[tuple[str, str]]:
    """The lines of the fences named sh, without those of the set-up and the tests (HTML comments name them)."""
    found = []
    for page in PAGES:
        text = re.sub(
            r"^<!-- \w+ command -->\n```sh\n.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.M | re.S
        )
        found += [(page, line) for fence in FENCE.findall(text) for line in fence.splitlines() if "gpudoctor" in line]
    return found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands name: an environment, a log, a program that fails, a Dockerfile, a root, a report."""
    folder = tmp_path_factory.mktemp("project")
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    (folder / ".venv/pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\n")
    (folder / "train.log").write_text("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED\n")
    (folder / "train.py").write_text("raise SystemExit('RuntimeError: No CUDA GPUs are available')\n")
    (folder / "Dockerfile").write_text("FROM nvidia/cuda:12.8.1-cudnn-runtime-ubuntu24.04\n")
    (folder / "uv.lock").write_text(LOCK)
    (folder / "image/etc").mkdir(parents=True)
    (folder / "image/etc/os-release").write_text("ID=ubuntu\nVERSION_ID=24.04\n")
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name, module in (("gpudoctor", "-m gpudoctor "), ("python", "")):
        (bin_folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n')
        (bin_folder / name).chmod(0o755)
    execute(["check", "--root", str(folder / "image"), "--output", str(folder / "report.json")])
    return folder


def run(line: str, project: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{project / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(["bash", "-c", line], cwd=project, env=env, capture_output=True, text=True, check=False)


def test_there_are_commands() -> None:
    assert {page for page, _ in commands()} == set(PAGES)


@pytest.mark.parametrize(("page", "line"), commands())
def test_the_command_works(page: str, line: str, project: Path) -> None:
    done = run(line, project)
    assert done.returncode in ANSWERS, (page, done.stderr)
    assert done.stdout or "-o " in line or ">" in line
    assert done.stderr == "" or "run --" in line, page
