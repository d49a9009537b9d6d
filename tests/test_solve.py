"""`gpudoctor matrix solve`: exit status, text, JSON, and commands that are what a colleague would type."""

from __future__ import annotations

import json

import pytest

from compat.matrix import Matrix
from doctor.cli import run
from doctor.formats import Look
from doctor.solving.solve import Asked, ask

ADA = ("RTX 4090",)
INDEX = {build: Matrix().wheel_index("torch", build).url for build in ("cu118", "cu126")}


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (Asked(("torch", "tensorflow"), ADA, "550.54.14"), 0),
        (Asked(("torch==2.15.0", "tensorflow"), ("RTX 5090",)), 1),
        (Asked(("tensorflow",), ("GT 640M",), "352.63"), 4),
        (Asked(("torch",), ("RTX 9999",)), 4),
        (Asked(("torch==2.4.1",), ("sm_120",), os_family="windows"), 4),  # PTX, but libraries of CUDA 11.8
    ],
)
@pytest.mark.parametrize("style", ["text", "json"])
def test_exit_status(asked: Asked, status: int, style: str) -> None:
    text, found = ask(asked._replace(style=style), Look())
    assert found == status
    assert style == "text" or json.loads(text)["verdict"] == {0: "yes", 1: "no", 4: "unknown"}[status]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["numpy"], "no product 'numpy'"),
        (["torch", "--driver", "new"], "not a driver release"),
        (["torch", "--python", "three"], "not a Python version"),
        (["torch", "--os", "beos"], "no operating system 'beos'"),
        (["torch =>2"], "no package with a version specifier"),
    ],
)
def test_bad_input(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", "solve", *arguments]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "pip"),
    [
        (
            Asked(("torch", "tensorflow"), ADA, "550.54.14"),
            [
                "python3.13 -m venv .venv",
                ".venv/bin/python -m pip install torch==2.10.0 'tensorflow[and-cuda]==2.20.0'",
            ],
        ),
        (
            Asked(("torch",), ADA, "550.54.14"),
            [
                "python3.14 -m venv .venv",
                f".venv/bin/python -m pip install torch==2.14.1 --index-url {INDEX['cu126']}",
            ],
        ),
        (
            Asked(("torch", "jax"), ADA, "550.54.14", python="3.12"),
            [
                "python3.12 -m venv .venv",
                ".venv/bin/python -m pip install torch==2.10.0 'jax[cuda12]==0.12.0.1'",
            ],
        ),
        (
            Asked(("torch==2.7.1+cu118", "cupy"), ADA, "550.54.14", python="3.12"),
            [
                "python3.12 -m venv .venv",
                (
                    ".venv/bin/python -m pip install torch==2.7.1+cu118 cupy-cuda11x==13.6.0 "
                    f"--extra-index-url {INDEX['cu118']}"
                ),
            ],
        ),
        (
            Asked(("tensorflow",), ADA, os_family="windows"),
            ["py -3.10 -m venv .venv", r".venv\Scripts\python.exe -m pip install tensorflow==2.10.*"],
        ),
    ],
)
def test_commands(asked: Asked, pip: list[str]) -> None:
    text, _ = ask(asked._replace(style="json"), Look())
    commands = json.loads(text)["commands"]
    assert [line.replace("'tensorflow==2.10.*'", "tensorflow==2.10.*") for line in commands["pip"]] == pip
    assert commands["uv"][0].startswith("uv venv --python 3.")
    assert commands["uv"][1].startswith("uv pip install --python ")
    assert ("--extra-index-url" in pip[1]) is ("--index-strategy unsafe-best-match" in commands["uv"][1])
    assert commands["conda"][0].startswith("conda create -y -p .venv -c conda-forge python=3.")


def test_no_commands_where_nobody_says_who_serves_a_build() -> None:
    text, _ = ask(Asked(("tensorflow",), ("GT 640M",), "352.63"), Look())
    assert "No package index is recorded" in text
    assert "pip install" not in text


def test_the_text_gives_reasons_rows_and_sources() -> None:
    text, _ = ask(Asked(("torch", "tensorflow"), ADA, "550.54.14"), Look())
    for part in (
        "yes: the newest of torch and tensorflow that work together on",
        "[torch.builds[torch-2.10.0-cu128]]",
        "Newer, but not known to work",
        "nvidia-nccl-cu12==2.27.5",
        "pytorch/pytorch:RELEASE.md",
    ):
        assert " ".join(part.split()) in " ".join(text.split())


def test_json_tells_every_build_that_was_passed_over() -> None:
    text, _ = ask(Asked(("torch", "tensorflow"), ADA, "550.54.14", style="json"), Look())
    answer = json.loads(text)
    assert answer["schema"] == "gpudoctor.solve/1"
    assert [one["package"] for one in answer["solution"]["builds"]] == ["torch", "tensorflow"]
    passed = [build for one in answer["refusals"] if one["package"] == "torch" for build in one["builds"]]
    assert "torch 2.15.0 (cu132)" in passed
    assert "torch 2.10.0 (cu128)" not in passed
    assert all(one["reason"]["rows"] for one in answer["refusals"])


def test_platforms_without_rows_of_the_newest_release_are_told() -> None:
    text, _ = ask(Asked(("torch",), ADA, os_family="windows"), Look())
    assert "no row says which builds of torch 2.15.0" in " ".join(text.split())


def test_this_machine() -> None:
    """Whatever it is, it is looked at; a Python that is named takes the place of its own."""
    text, status = ask(Asked(("torch",), python="3.12", style="json"), Look())
    answer = json.loads(text)
    assert answer["circumstances"]["this_machine"] is True
    assert answer["circumstances"]["python"] == "3.12"
    assert status in {0, 1, 4}
