"""A lock file for several platforms and GPUs at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from doctor.cli import execute
from tests.commands.lock.test_lock import UV

OLD = UV.replace("2.8.0", "2.6.0").replace("cu129", "cu124")


def run(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *more: str) -> tuple[int, str]:
    (folder / "uv.lock").write_text(text)
    status = execute(["check", "--lock", str(folder / "uv.lock"), "--policy", "", *more])
    printed = capsys.readouterr()
    return status, printed.out + printed.err


def test_each_gpu_and_platform_has_its_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--assume-gpu", "RTX 5090", "--assume-gpu", "L4", "--assume-driver", "580.65.06", "--platform")
    status, text = run(tmp_path, capsys, OLD, *given, "linux/amd64,windows/amd64", "--json")
    found = {(one["platform"], one["gpu"]): one for one in json.loads(text)["targets"]}
    assert status == 1
    assert {key: one["verdict"] for key, one in found.items()} == {
        ("linux/amd64", "RTX 5090"): "broken",  # CUDA 12.4 has no code for it
        ("linux/amd64", "L4"): "fine",
        ("windows/amd64", "RTX 5090"): "broken",  # a CPU build
        ("windows/amd64", "L4"): "broken",
    }
    assert found["linux/amd64", "L4"]["builds"] == ["torch 2.6.0+cu124"]
    assert found["linux/amd64", "RTX 5090"]["line"].endswith("uv.lock:41")


def test_all_platforms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """macOS is left out where a GPU is named."""
    for more, count in (((), 4), (("--assume-gpu", "L4"), 3)):
        _, text = run(tmp_path, capsys, UV, "--platform", "all", "--format", "csv", *more)
        assert len(text.splitlines()) == count + 1


def test_the_text_is_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(tmp_path, capsys, UV, "--platform", "linux/amd64,linux/arm64", "--assume-gpu", "H100")
    assert status == 0
    assert "linux/amd64 · H100  torch 2.8.0+cu129" in text
    assert text.count("✓") == 2


def test_a_platform_that_is_not_locked_is_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = tmp_path / "pixi.lock"
    wheel = "https://example.org/torch-2.7.1-cp312-cp312-manylinux_2_28_x86_64.whl"
    lock.write_text(f"version: 6\nenvironments:\n  default:\n    packages:\n      linux-64:\n      - pypi: {wheel}\n")
    given = ["check", "--lock", str(lock), "--policy", "", "--json", "--platform"]
    assert execute([*given, "linux/amd64,linux/arm64"]) == 0
    verdicts = [one["verdict"] for one in json.loads(capsys.readouterr().out)["targets"]]
    assert verdicts == ["fine", "not-locked"]
    assert execute([*given, "linux/arm64,windows/amd64"]) == 2


@pytest.mark.parametrize("more", [("--platform", "beos/amd64,linux/amd64"), ("--format", "sarif", "--platform", "all")])
def test_bad_usage(more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, capsys, UV, *more)[0] == 2
