"""Packages that run on another one: by the builds of that one, with its backend, in place of a twin for the CPU."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from compat.matrix import Matrix
from compat.solve.search import Problem, solve
from compat.spec import parse_spec
from compat.target import TargetMachine
from doctor.cli import execute

MATRIX = Matrix()
YES, NO, UNKNOWN = 0, 1, 4


def solved(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    status = execute(["matrix", "solve", *shlex.split(words), "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("asked", "packages"),
    [
        ("chainer --gpu V100", {"chainer", "cupy-cuda111"}),
        ("chainer cupy-cuda11x --gpu V100", {"chainer", "cupy-cuda11x"}),
        ("keras==2.3.1 --gpu V100", {"keras", "tensorflow-gpu"}),
        ("keras --gpu A100", {"keras", "tensorflow"}),
        ("keras torch --gpu A100", {"keras", "torch"}),  # one backend is enough
        ("tf-keras==2.15.0 --gpu A100", {"tf-keras", "tensorflow"}),  # its own metadata asks for none
        ("bitsandbytes --gpu A100", {"bitsandbytes", "torch"}),
        ("torchvision --gpu A100", {"torchvision", "torch"}),
    ],
)
def test_what_it_runs_on_comes_along(asked: str, packages: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    status, said = solved(asked, capsys)
    assert (status, {one["package"] for one in said["solution"]["builds"]}) == (YES, packages)


@pytest.mark.parametrize("command", ["can", "solve"])
@pytest.mark.parametrize(
    ("asked", "status", "says"),
    [
        ("tf-keras --gpu 'RTX 4090' --os windows", NO, "TensorFlow 2.10 was the last with GPU code for native Windows"),
        ("flax --gpu 'RTX 4090' --os windows", NO, "JAX has no CUDA wheels for native Windows"),
        ("torchvision==0.20.1 --gpu 'RTX 5090'", NO, "has no code for sm_120"),
        ("torchaudio==2.7.0 --gpu 'Tesla K80'", NO, "torch"),
        ("transformers --gpu 'RTX 5090'", YES, "transformers"),
        ("paddlex==3.7.2 --gpu A100 --os windows", UNKNOWN, "paddlepaddle-gpu"),
        ("faster-whisper==0.9.0 --gpu T4", NO, "pip finds no wheel of the av that it requires"),
        ("torchaudio==2.8.0 --os macos --driver 570.86.10", NO, "there is no CUDA for macOS"),
    ],
)
def test_it_is_as_good_as_what_it_runs_on(
    command: str, asked: str, status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["matrix", command, *shlex.split(asked)]) == status
    assert says in " ".join(capsys.readouterr().out.split())


def test_a_build_with_gpu_code_takes_the_place_of_the_one_for_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    """faster-whisper requires onnxruntime, whose files are those of onnxruntime-gpu."""
    status, said = solved("onnxruntime-gpu faster-whisper --gpu 'RTX 4090'", capsys)
    assert status == YES
    release = said["solution"]["builds"][0]["release"]
    assert [line.partition(" -m pip ")[2] for line in said["commands"]["pip"][-2:]] == [
        "uninstall -y onnxruntime",
        f"install --force-reinstall --no-deps 'onnxruntime-gpu=={release}'",
    ]
    assert any("onnxruntime, the build for the CPU, comes along" in one for one in said["solution"]["remarks"])


@pytest.mark.parametrize(("held", "is_solved"), [("onnxruntime==1.20.1", False), ("numpy==2.2.6", True)])
def test_what_is_installed_gives_way_to_nothing(held: str, is_solved: bool) -> None:
    found = solve(Problem([parse_spec("onnxruntime-gpu")], TargetMachine(), MATRIX, hold=[parse_spec(held)]))
    assert (found is not None) == is_solved


def test_can_names_the_release_that_goes_with_what_it_requires(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("can", "solve"):
        assert execute(["matrix", command, "optax", "--gpu", "V100", "--format", "json"]) == YES
    answers = capsys.readouterr().out.split('"schema"')
    can, solve_ = (json.loads('{"schema"' + one.rpartition("}")[0] + "}") for one in answers[1:])
    best = can["cases"][0]["answers"][0]["build"]
    assert best.partition(" ")[2] == solve_["solution"]["builds"][0]["release"]


@pytest.mark.parametrize(("asked", "below"), [("gymnax==1.0.1", (0, 12)), ("gymnax==1.0.0", (0, 7))])
def test_the_limit_on_a_package_holds_for_its_plugin(
    asked: str, below: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    """jax-cuda12-plugin stands for the jax of its own release: METADATA of gymnax 1.0.1 has jax<0.12."""
    status, said = solved(f"{asked} --gpu 'RTX 5090' --driver 580.95.05", capsys)
    assert status == YES
    plugin = next(one for one in said["solution"]["builds"] if one["package"].startswith("jax-cuda"))
    assert tuple(map(int, plugin["release"].split(".")[:2])) < below


@pytest.mark.parametrize(
    ("asked", "torch"),
    [
        ("torch torchaudio --gpu 'RTX 5090' --driver 580.95.05", "2.14.1"),  # 2.15.0 is built for CUDA 13.2
        ("torchcrepe --gpu 'RTX 5090' --driver 580.95.05", "2.14.1"),  # requires torchaudio
        ("torch==2.14.1+cu126 torchaudio --gpu V100 --driver 580.95.05", "2.14.1"),  # from torch's index
        ("torch==2.9.1+cu126 torchaudio --gpu V100 --driver 580.95.05", "2.9.1"),
    ],
)
def test_torchaudio_has_the_cuda_of_torch(asked: str, torch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """torchaudio 2.11.0, for CUDA 13.0, beside torch 2.15.0 raises at its import: tried."""
    status, said = solved(asked, capsys)
    assert status == YES
    assert {one["package"]: one["release"] for one in said["solution"]["builds"]}["torch"] == torch


def test_torchaudio_refuses_another_minor(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(shlex.split("matrix solve torch==2.15.0+cu132 torchaudio --gpu 'RTX 5090'")) == NO
    assert "refuses the CUDA 13.2 of torch 2.15.0 (cu132)" in " ".join(capsys.readouterr().out.split())
