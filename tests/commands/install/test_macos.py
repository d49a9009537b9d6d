"""On a Mac: what concerns it says that there is no CUDA, and what concerns another machine works."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from compat.base import user_dirs
from doctor.cli import execute
from tests.lab.cases import windows
from tests.lab.parts import together

WHY = "there is no CUDA for macOS after 10.2"


@pytest.fixture(autouse=True)
def mac(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """This machine, under the name of a Mac and with nothing of CUDA's in reach."""
    monkeypatch.setitem(user_dirs._FAMILIES, sys.platform, "macos")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_check_says_it_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "--format", "json", "--skip", "install-unfinished"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "no-gpu"
    assert [one["code"] for one in report["findings"]] == ["no-nvidia-gpu"]
    assert WHY in report["findings"][0]["summary"]
    assert [one["code"] for one in report["answers"] if one["answer"] == "unknown"] == []


@pytest.mark.parametrize(
    "order",
    [
        ("torch",),
        ("torch", "2.9.1", "--cuda-version", "12.8"),
        ("cudnn", "9.10.2"),
        ("cuda", "12.8"),
        ("driver",),
        ("stack", "torch"),
        ("config", "theano"),
        ("config", "path", "/usr/local/cuda/bin"),
        ("cudnn", "9.10.2", "--apply"),
    ],
)
def test_nothing_is_planned_for_this_mac(order: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", *order]) == 2
    shown = capsys.readouterr()
    assert (shown.out, WHY in shown.err, "--os linux" in shown.err) == ("", True, True)


@pytest.mark.parametrize("system", ["linux", "windows"])
@pytest.mark.parametrize(
    "order", [("torch", "2.9.1"), ("cudnn", "9.10.2", "--cuda-version", "12.8"), ("config", "theano")]
)
def test_for_another_machine(order: tuple[str, ...], system: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", *order, "--os", system]) == 0
    assert capsys.readouterr().out


def test_the_matrix_speaks_of_other_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "can", "torch==2.9.1", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["circumstances"]["os"] == "linux"
    assert execute(["matrix", "can", "cuda==12.8", "--os", "macos"]) == 1


def test_a_disk_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "etc").mkdir()
    assert execute(["check", "--root", str(tmp_path), "--format", "json"]) in {0, 4}
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_windows_disk_is_judged_for_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    together(windows.BASE, windows.torch("2.9.1+cpu"))(tmp_path)
    assert execute(["check", "--root", str(tmp_path), "--assume-gpu", "RTX 4090", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (found["code"], found["severity"]) == ("cpu-only-wheel", "error")
    assert any("/whl/cu" in line for line in found["remedies"][0]["commands"])


def test_a_gate_stays_shut_and_history_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["gate"]) == 1
    assert WHY in capsys.readouterr().out
    assert execute(["install", "history"]) == 0


def test_which_and_verify(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["which", "cudnn"]) == 4
    assert "there is no CUDA for macOS" in capsys.readouterr().out
    assert execute(["verify"]) == 1
    assert "no NVIDIA GPU" in capsys.readouterr().out


def test_what_is_solved_is_for_another_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", "torch==2.9.1"]) == 1  # 2.2 was the last for a Mac with an Intel processor
    shown = " ".join(capsys.readouterr().out.split())
    assert WHY in shown
    assert "for another machine, give --os linux" in shown
    assert "name them" not in shown
    assert execute(["matrix", "solve", "torch==2.9.1", "--gpu", "RTX 4090", "--driver", "580.65.06"]) == 0
    assert "linux x86_64" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("folder", "code", "status"),
    [
        ("/Users/jo/", "no-nvidia-gpu", 0),
        ("/users/jo/", "cpu-only-wheel", 1),
        ("/home/jo/", "cpu-only-wheel", 1),
        ("C:/Users/jo/", "cpu-only-wheel", 1),
        ("/mnt/c/Users/jo/", "cpu-only-wheel", 1),
    ],
)
def test_a_text_is_of_the_machine_that_it_names(
    folder: str, code: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The most frequent message of a Mac's torch; a text of another machine is explained as it is anywhere."""
    log = tmp_path / "log"
    log.write_text(f'  File "{folder}train.py", line 3\nAssertionError: Torch not compiled with CUDA enabled\n')
    assert execute(["explain", str(log), "--format", "json"]) == status
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["causes"]] == [code]
