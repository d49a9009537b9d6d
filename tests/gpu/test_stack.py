"""On a machine with a GPU: the proof passes, the benchmark computes, and convolutions are as fast as torch's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gpu.steps import GPUDOCTOR, ROOT, gpu_name

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module", autouse=True)
def _gpu() -> None:
    if not gpu_name():
        pytest.skip("no GPU")


def run(*argv: str, status: int = 0) -> str:
    done = subprocess.run((*GPUDOCTOR, *argv), cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("level", ["load", "conv", "full"])
def test_verify_passes(level: str) -> None:
    report = json.loads(run("verify", "--python", sys.executable, "--level", level, "--format", "json"))
    assert not report["findings"]


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_verify_passes_through_a_framework(name: str) -> None:
    pytest.importorskip(name)
    argv = ("verify", "--python", sys.executable, "--level", "full", "--framework", name, "--format", "json")
    assert not json.loads(run(*argv))["findings"]


def test_the_node_is_ready_to_train() -> None:
    report = json.loads(run("verify", "--python", sys.executable, "--level", "node", "--format", "json"))
    assert report["verdict"] == "passed"
    assert all(0 <= one["now"].get("memory_bytes", 0) <= 256 << 20 for gpu in report["gpus"] for one in gpu["stages"])


def test_every_path_trains_lenet_alike() -> None:
    argv = ("bench", "lenet", "--python", sys.executable, "--steps", "5", "--format", "json")
    report = json.loads(run(*argv))
    losses = {f"{one['path']} {one['pool']}": one["losses"] for one in report["timings"]}
    ours = {"cpu None", "gpu False", "gpu True", "gpu+cudnn True"}
    assert set(losses) - {"cpu+torch None"} == ours  # torch, where it is, has weights of its own
    for path in ours:
        assert losses[path][0] == pytest.approx(losses["cpu None"][0], rel=1e-3), path
    assert {one["algorithm"] for one in report["choices"] if one["status"] == "ran"}
    assert not report["lacks"]


def test_a_convolution_that_is_ours_is_right_beside_torchs(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    saved = tmp_path / "ratio.json"
    argv = (sys.executable, "-m", "tests.gpu.ratio", "--quick", str(saved))
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    rows: list[dict[str, Any]] = json.loads(saved.read_text(encoding="utf-8"))["rows"]
    assert [one["direction"] for one in rows] == ["forward", "backward-data", "backward-filter"] * 2
    for one in rows:
        assert one["is_right"], one
