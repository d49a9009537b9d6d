"""Commands about plans need nothing of Linux: they run where Python says that it is macOS or Windows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The standard library is loaded first: it asks for the platform when it is, and is not what is tested.
_START = """
import sys
sys.path.insert(0, {root!r})
import asyncio, concurrent.futures, ctypes, glob, importlib.metadata, multiprocessing, platform, re, resource, shutil
import socket, sqlite3, ssl, subprocess, tempfile, zipfile, typer, typer.rich_utils, yaml, packaging.markers
sys.platform = {platform!r}
platform.system = lambda: {system!r}
platform.machine = lambda: {machine!r}
from doctor.cli import execute
raise SystemExit(execute({argv!r}))
"""
PLATFORMS = {"darwin": ("Darwin", "arm64"), "win32": ("Windows", "AMD64")}
LOCK = "torch==2.5.1\n"
DOCKERFILE = "FROM nvidia/cuda:11.8-devel-ubuntu22.04\n"


def run(platform: str, folder: Path, *argv: str) -> tuple[int, str, str]:
    system, machine = PLATFORMS[platform]
    code = _START.format(root=str(ROOT), platform=platform, system=system, machine=machine, argv=list(argv))
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_lock_file(platform: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(LOCK)
    given = ("check", "--lock", "requirements.txt", "--platform", "linux/amd64", "--assume-gpu", "RTX 5090")
    status, out, err = run(platform, tmp_path, *given, "--json")
    assert (status, err) == (1, "")
    assert [one["code"] for one in json.loads(out)["findings"] if one["severity"] == "error"] == [
        "gpu-too-new-for-cuda"
    ]


@pytest.mark.parametrize(("platform", "build"), [("darwin", "torch 2.5.1+cpu"), ("win32", "torch 2.5.1+cpu")])
def test_a_lock_file_for_this_platform(platform: str, build: str, tmp_path: Path) -> None:
    """The default index has CPU builds for both."""
    (tmp_path / "requirements.txt").write_text(LOCK)
    status, out, err = run(platform, tmp_path, "check", "--lock", "requirements.txt")
    assert (status, err) == (0, "")
    assert build in out


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_dockerfile(platform: str, tmp_path: Path) -> None:
    """It is of Linux, wherever it is checked."""
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    status, out, err = run(platform, tmp_path, "check", "--dockerfile", "Dockerfile")
    assert (status, err) == (1, "")
    assert "nvidia/cuda:11.8-devel-ubuntu22.04 does not exist" in out
    assert "linux ·" in out


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (("explain", "gpu-too-new-for-cuda"), "gpu-too-new-for-cuda"),
        (("explain", "train.log"), "driver"),
        (("matrix", "show", "torch", "2.9.1"), "2.9.1"),
        (("matrix", "can", "torch==2.9.1", "--gpu", "RTX 4090", "--driver", "580.65.06"), "torch"),
    ],
)
def test_explain_and_matrix(platform: str, argv: tuple[str, ...], word: str, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("RuntimeError: CUDA driver version is insufficient for CUDA runtime version\n")
    status, out, err = run(platform, tmp_path, *argv)
    assert status == (1 if argv[1] == "train.log" else 0), (out, err)  # 1: a cause was found
    assert word in out
