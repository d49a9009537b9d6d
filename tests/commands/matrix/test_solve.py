"""`gpudoctor matrix solve`: exit status, text, JSON, and commands that are what a colleague would type."""

from __future__ import annotations

import json

import pytest

from compat.matrix import Matrix
from doctor.cli import execute
from doctor.commands.matrix.solve import SolveRequest, ask
from doctor.output.document import TextStyle

ADA = ("RTX 4090",)
INDEX = {build: Matrix().wheel_index("torch", build).url for build in ("cu118", "cu126")}
CU126 = f"--extra-index-url {INDEX['cu126']}"


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (SolveRequest(("torch", "tensorflow"), ADA, "550.54.14"), 0),
        (SolveRequest(("torch==2.15.0", "tensorflow"), ("B200",)), 1),
        (SolveRequest(("tensorflow",), ("GT 640M",), "352.63"), 4),
        (SolveRequest(("torch",), ("RTX 9999",)), 4),
        (SolveRequest(("tensorflow==2.14",), python="3.10"), 0),  # with the tensorrt that its extra pins
        (SolveRequest(("tensorflow==2.14",), python="3.11"), 1),  # for which that tensorrt has no wheel
        (SolveRequest(("torch==2.4.1",), ("sm_120",), os_family="windows"), 4),  # PTX, but libraries of CUDA 11.8
    ],
)
@pytest.mark.parametrize("style", ["text", "json"])
def test_exit_status(asked: SolveRequest, status: int, style: str) -> None:
    text, found = ask(asked._replace(style=style), TextStyle())
    assert found == status
    assert style == "text" or json.loads(text)["verdict"] == {0: "yes", 1: "no", 4: "unknown"}[status]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["trch"], "no product 'trch'; did you mean torch"),
        (["numpy"], "NumPy computes on the CPU; CuPy is its counterpart"),
        (["torch", "--driver", "new"], "not a driver release"),
        (["torch", "--python", "three"], "not a Python version"),
        (["torch", "--os", "beos"], "no operating system 'beos'"),
        (["torch =>2"], "is not a package with a version specifier"),
    ],
)
def test_bad_input(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", *arguments]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "pip"),
    [
        (
            SolveRequest(("torch", "tensorflow"), ADA, "550.54.14"),
            [
                "python3.12 -m venv .venv",
                ".venv/bin/python -m pip install torch==2.14.1+cu126 'tensorflow[and-cuda]==2.21.0' " + CU126,
            ],
        ),
        (
            SolveRequest(("torch",), ADA, "550.54.14"),
            [
                "python3.12 -m venv .venv",
                f".venv/bin/python -m pip install torch==2.14.1 --index-url {INDEX['cu126']}",
            ],
        ),
        (
            SolveRequest(("torch", "jax"), ADA, "550.54.14", python="3.12"),
            [
                "python3.12 -m venv .venv",
                ".venv/bin/python -m pip install torch==2.14.1+cu126 'jax[cuda12]==0.12.0.1' " + CU126,
            ],
        ),
        (
            SolveRequest(("torch==2.7.1+cu118", "cupy"), ADA, "550.54.14", python="3.12"),
            [
                "python3.12 -m venv .venv",
                (
                    ".venv/bin/python -m pip install torch==2.7.1+cu118 cupy-cuda11x==13.6.0 "
                    f"--extra-index-url {INDEX['cu118']}"
                ),
            ],
        ),
        (
            SolveRequest(("tensorflow",), ADA, os_family="windows"),
            ["py -3.10 -m venv .venv", r".venv\Scripts\python.exe -m pip install tensorflow==2.10.* 'numpy<2'"],
        ),
    ],
)
def test_commands(asked: SolveRequest, pip: list[str]) -> None:
    text, _ = ask(asked._replace(style="json"), TextStyle())
    commands = json.loads(text)["commands"]
    assert [line.replace("'tensorflow==2.10.*'", "tensorflow==2.10.*") for line in commands["pip"]] == pip
    assert commands["uv"][0].startswith("uv venv --python 3.")
    assert commands["uv"][1].startswith("uv pip install --python ")
    assert ("--extra-index-url" in pip[1]) is ("--index-strategy unsafe-best-match" in commands["uv"][1])
    assert commands["conda"][0].startswith("conda create -y -p .venv -c conda-forge python=3.")


def test_python_2_has_no_module_venv_and_uv_does_not_know_it() -> None:
    text, _ = ask(SolveRequest(("torch",), os_family="linux", python="2.7", style="json"), TextStyle())
    commands = json.loads(text)["commands"]
    assert commands.keys() == {"pip", "conda"}
    assert commands["pip"][0] == "pipx run --spec 'virtualenv<20.22' virtualenv -p python2.7 .venv"


def test_no_commands_where_nobody_says_who_serves_a_build() -> None:
    text, _ = ask(SolveRequest(("tensorflow",), ("GT 640M",), "352.63"), TextStyle())
    assert "It is not known to work, so there are no commands" in text
    assert "pip install" not in text


@pytest.mark.parametrize("asked", ["jax<=0.1.19", "torch==99", "torch==2.9.1+cu999"])
def test_of_what_no_row_speaks_nobody_knows(asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", asked, "--gpu", "RTX 4090", "--driver", "550.54.14"]) == 4
    assert f"unknown: no row has a build of {asked} for" in " ".join(capsys.readouterr().out.split())


def test_the_text_gives_reasons_rows_and_sources() -> None:
    text, _ = ask(SolveRequest(("torch", "tensorflow"), ("B200",), "580.65.06", sources=True), TextStyle())
    for part in (
        "yes: the newest torch and tensorflow that work together on",
        "torch.builds[torch-2.13.0-cu129]:",
        "nvidia-cudnn-cu13",
        "unpack into one directory",
    ):
        assert " ".join(part.split()) in " ".join(text.split())


def test_json_tells_every_build_that_was_passed_over() -> None:
    text, _ = ask(SolveRequest(("torch", "tensorflow"), ADA, "550.54.14", style="json"), TextStyle())
    answer = json.loads(text)
    assert answer["schema"] == "gpudoctor.solve/1"
    assert [one["package"] for one in answer["solution"]["builds"]] == ["torch", "tensorflow"]
    passed = [build for one in answer["refusals"] if one["package"] == "torch" for build in one["builds"]]
    assert "torch 2.15.0 (cu132)" in passed
    assert "torch 2.14.1 (cu126)" not in passed
    assert all(one["reason"]["rows"] for one in answer["refusals"])


def test_platforms_without_rows_of_the_newest_release_are_told() -> None:
    text, _ = ask(SolveRequest(("torch",), ADA, os_family="windows"), TextStyle())
    assert "no GPU build of torch 2.15.0" in " ".join(text.split())


def test_this_machine() -> None:
    """Whatever it is, it is looked at; a Python that is named takes the place of its own."""
    text, status = ask(SolveRequest(("torch",), python="3.12", style="json"), TextStyle())
    answer = json.loads(text)
    assert answer["circumstances"]["this_machine"] is True
    assert answer["circumstances"]["python"] == "3.12"
    assert status in {0, 1, 4}


@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("torch==v2.9.1", 0, "torch 2.9.1"),  # PEP 440
        ("torch===2.9.1", 0, "torch 2.9.1"),
        ("torch==2.9.1.post1", 4, "no row has a build"),  # the row of all CPU builds does not say that it exists
        ("torch==2.9.1rc1", 4, "no row has a build"),
        ("cuda==12.4", 2, "name one that uses it"),
        ("cudnn", 2, "name one that uses it"),
    ],
)
def test_spellings_and_what_is_no_package(
    asked: str, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["matrix", "solve", asked, "--os", "linux"]) == status
    printed = capsys.readouterr()
    assert says in " ".join((printed.out + printed.err).split())


def test_what_is_asked_for_twice_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", "torch", "torch", "--os", "linux"]) == 0
    assert "torch and torch" not in capsys.readouterr().out


def test_an_extra_that_leaves_cuda_to_the_system_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """jax[cuda12_local] was answered with jax[cuda12], whose wheels bring what was to be the system's."""
    asked = ("--gpu", "A100", "--driver", "550.54")
    assert execute(["matrix", "solve", "jax[cuda12_local]", *asked]) == 0
    told = capsys.readouterr().out
    assert "from the system: install them too" in " ".join(told.split())
    assert "'jax[cuda12-local]==" in told
    assert "nvidia-cudnn" not in told
    assert execute(["matrix", "solve", "jax[cuda12]", *asked]) == 0
    assert "'jax[cuda12]==" in capsys.readouterr().out


@pytest.mark.parametrize("specs", [("nvcc==13.0",), ("cuda==12.4", "numpy"), ("cuda", "cudnn"), ("cudatoolkit==11.3",)])
def test_what_is_no_package_is_said(specs: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", *specs, "--gpu", "GTX 1650"]) == 2
    assert "is no package: name one that uses it" in capsys.readouterr().err


def test_what_pip_does_not_bring_comes_by_hand_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", "flash-attn", "--gpu", "RTX 4090", "--driver", "580.95.05"]) == 0
    text = capsys.readouterr().out
    assert "pip install torch==2.8.0 --index-url" in text
    assert "pip install 'flash-attn==2.8.3' --no-build-isolation" in text
    assert "flash-attn 3.*" not in text  # for Hopper
