"""`can`, `solve`, `show` and `install` read names, releases, drivers and cards alike."""

from __future__ import annotations

import json

import pytest

from doctor.cli import execute


def ask(*words: str) -> int:
    return execute(["matrix", *words])


@pytest.mark.parametrize(
    ("card", "package", "status"),
    [
        ("GTX 750 Ti", "torch", 4),  # a rare board of that name has a Kepler chip
        ("GT 640", "torch", 4),
        ("GTX 750 Ti", "torch==2.15.0", 1),  # neither chip
        ("GT 640", "tensorflow==2.21.0", 1),
        ("RTX 4090", "torch", 0),
    ],
)
def test_cards_with_several_chips(card: str, package: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("can", "solve"):
        assert ask(command, package, "--gpu", card) == status, command
        text = capsys.readouterr().out
        assert ("depends on the chip" in text) == (status == 4), command


def test_each_chip_has_its_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("solve", "torch", "--gpu", "GTX 750 Ti", "--format", "json") == 4
    cases = json.loads(capsys.readouterr().out)["cases"]
    assert [(one["circumstances"]["gpus"][0]["capabilities"], one["verdict"]) for one in cases] == [
        (["3.0"], "no"),
        (["5.0"], "yes"),
    ]
    assert "torch==2.14.1" in str(cases[1]["commands"]["pip"])


@pytest.mark.parametrize("command", ["can", "solve"])
@pytest.mark.parametrize(
    ("driver", "says"),
    [
        ("13.0", "13.0 is nvidia-smi's CUDA Version, not a driver; give the driver, e.g. 580.65.06"),
        ("12.4", "e.g. 550.54.14"),
        ("999", "driver 999 does not exist: the newest branch is"),
    ],
)
def test_what_is_no_driver(command: str, driver: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(command, "torch", "--gpu", "A100", "--driver", driver) == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_an_assumed_driver_and_one_to_install_are_read_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["install", "driver", "13.0", "--distribution", "ubuntu-24.04"]) == 2
    assert "nvidia-smi's CUDA Version" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["can", "solve"])
def test_the_beginning_of_a_release(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(command, "tensorrt==10.12", "--gpu", "RTX 4090") == 0
    assert "10.12.0.36" in capsys.readouterr().out
    assert ask(command, "torch==2.9", "--gpu", "RTX 4090") == 0  # there is a 2.9.0, which is what pip takes
    assert "2.9.1" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ask_for", "status", "says"),
    [
        (("torch", "cuda==12.4"), 0, "torch 2.15.0"),
        (("tensorflow-gpu==2.4", "cuda==11.0", "cudnn==8.0"), 0, "tensorflow-gpu 2.4"),
        (("tensorflow-gpu==2.4", "cuda==12.4"), 1, "12.4 is installed"),
    ],
)
def test_the_cuda_of_the_system(
    ask_for: tuple[str, ...], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("can", "solve"):
        assert ask(command, *ask_for, "--gpu", "A100") == status, command
        assert says in " ".join(capsys.readouterr().out.split()), command


@pytest.mark.parametrize("asked", ["cuda==12.99", "cuda==12.8.7", "cudnn==9.99"])
def test_a_release_of_the_system_that_no_row_has_is_unknown(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("can", asked, "--gpu", "A100") == 4
    assert f"no matrix row covers {asked}" in capsys.readouterr().out
