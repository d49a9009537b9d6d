"""Questions about packages that have no GPU code of their own, and about names that the matrix does not know."""

from __future__ import annotations

import json
import re
import shlex
import time
from typing import Any

import pytest

from doctor.cli import execute


def asked(capsys: pytest.CaptureFixture[str], command: str, *words: str) -> tuple[int, dict[str, Any]]:
    """Return the exit status and the JSON answer."""
    status = execute(["matrix", command, *words, "--os", "linux", "--format", "json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, document


def chosen(answer: dict[str, Any]) -> dict[str, str]:
    """Return the release of each package of the set."""
    return {one["package"]: one["release"] for one in answer["solution"]["builds"]}


@pytest.mark.parametrize(
    "wish",
    [
        "torch torchvision torchaudio",
        "torch torchvision transformers bitsandbytes",
        "torch transformers accelerate bitsandbytes",
        "torch diffusers transformers xformers",
        "torch ultralytics",
        "torch lightning torchmetrics",
        "sentence-transformers",
        "tensorflow tf-keras",
        "tensorflow tensorflow-probability",
        "flax optax",
        "faster-whisper",
        "whisperx",
        "peft trl",
        "sglang",
    ],
)
@pytest.mark.no_cover  # other tests run the same lines
def test_the_common_wishes_are_answered(wish: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each was refused: one name without rows discarded the whole question."""
    status, answer = asked(capsys, "solve", *wish.split(), "--gpu", "L4", "--driver", "580")
    assert (status, answer["verdict"], answer["not_judged"]) == (0, "yes", [])
    assert set(wish.split()) <= {one["asked"] for one in answer["solution"]["builds"]}


def test_an_unknown_name_leaves_the_others_answered(capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = asked(capsys, "solve", "torch", "no-such-package", "pandas", "tensorlfow")
    assert (status, list(chosen(answer))) == (0, ["torch"])
    assert [one["name"] for one in answer["not_judged"]] == ["no-such-package", "pandas", "tensorlfow"]
    assert [one["why"].partition(" or ")[0] for one in answer["not_judged"]] == [
        "no data about it",
        "pandas computes on the CPU; cuDF is its counterpart for GPUs",
        "did you mean tensorflow",
    ]


def test_a_yes_that_leaves_a_package_out_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = asked(capsys, "can", "torch", "no-such-package")
    assert (status, answer["verdict"]) == (4, "unknown")
    assert [one["name"] for one in answer["not_judged"]] == ["no-such-package"]


def test_the_text_names_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["matrix", "solve", "torch", "no-such-package", "--os", "linux"]) == 0
    assert "Not judged: no-such-package (no data about it)" in capsys.readouterr().out


def test_a_follower_comes_from_the_index_of_the_build_that_it_follows(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("torch", "torchvision", "--gpu", "RTX 3090", "--driver", "535")
    _, answer = asked(capsys, "solve", *words)
    builds = {one["package"]: one["build"] for one in answer["solution"]["builds"]}
    line = answer["commands"]["pip"][-1]
    assert f"torchvision=={chosen(answer)['torchvision']}+{builds['torch']}" in line
    assert f"--extra-index-url https://download.pytorch.org/whl/{builds['torch']}" in line


def test_a_package_runs_on_the_gpu_code_of_what_it_requires(capsys: pytest.CaptureFixture[str]) -> None:
    """transformers alone says nothing of a card: the torch that it requires does."""
    _, answer = asked(capsys, "solve", "transformers", "--gpu", "GTX 1080")
    assert "torch" in chosen(answer)
    status, _ = asked(capsys, "can", "transformers==5.24.0", "--gpu", "Tesla K80")
    assert status == 1, "torch 2.6 and newer have no code for sm_37"


def test_newest_is_said_of_the_channels_that_are_covered(capsys: pytest.CaptureFixture[str]) -> None:
    """vLLM serves builds for CUDA 12.9 of releases whose builds on the package index need driver 580."""
    _, answer = asked(capsys, "solve", "vllm", "--gpu", "H100", "--driver", "570")
    assert answer["covered"] == ["the package index"]
    other = next(one for one in answer["channels"] if one["channel"] == "vLLM's index")
    assert (other["cuda"], other["command"].startswith("uv pip install vllm==")) == (["12.9"], True)


@pytest.mark.parametrize(
    ("wish", "gpu", "channel"),
    [
        ("tensorflow", "RTX 5090", "conda-forge"),
        ("tensorflow", "RTX 5090", "NVIDIA's containers"),
        ("paddlepaddle-gpu", "RTX 5070", "PaddlePaddle's index"),
        ("paddleocr", "RTX 5070", "PaddlePaddle's index"),
        ("lightgbm", "T4", "conda-forge"),
        ("onnxruntime-gpu==1.18.1 torch==2.4.1+cu121", "T4", "ONNX Runtime's feed for CUDA 12"),
    ],
)
def test_other_channels_are_named(wish: str, gpu: str, channel: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = asked(capsys, "solve", *wish.split(), "--gpu", gpu)
    assert channel in {one["channel"] for one in answer["channels"]}


def test_can_names_other_channels_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = asked(capsys, "can", "tensorflow==2.19.1", "--gpu", "RTX 5090")
    assert [one["command"] for one in answer["channels"] if one["channel"] == "conda-forge"]
    _, answer = asked(capsys, "can", "tensorflow==2.19.1", "--gpu", "L4")
    assert answer["channels"] == []


def test_a_channel_without_code_for_the_card_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """PaddlePaddle's builds for CUDA 12.6 have no code for sm_120; conda-forge's TensorFlow has none for sm_50."""
    _, answer = asked(capsys, "solve", "paddlepaddle-gpu", "--gpu", "RTX 5090")
    assert not [one for one in answer["channels"] if "12.6" in one["cuda"]]
    _, answer = asked(capsys, "solve", "tensorflow==2.21.0", "--gpu", "sm_50")
    assert not [one for one in answer["channels"] if one["channel"] == "conda-forge"]


def test_reports_that_differ_are_no_no(capsys: pytest.CaptureFixture[str]) -> None:
    """TensorFlow 2.21 on an RTX 50 card: what fails is XLA, and not every report is of that."""
    for release, verdict in (("2.20.0", "no"), ("2.21.0", "unknown")):
        _, answer = asked(capsys, "can", f"tensorflow=={release}", "--gpu", "RTX 5090")
        assert answer["verdict"] == verdict


def test_what_has_no_common_set_has_an_environment_each(capsys: pytest.CaptureFixture[str]) -> None:
    """torch and TensorFlow on an RTX 5090: TensorFlow's wheels have no code for it."""
    status, answer = asked(capsys, "solve", "torch", "tensorflow", "--gpu", "RTX 5090")
    assert status == 4
    assert [[one["package"] for one in apart["builds"]] for apart in answer["apart"]] == [["torch"]]
    assert {one["package"] for one in answer["channels"]} == {"tensorflow"}
    assert any("sm_120" in (one["targets"] or ()) for one in answer["channels"])


def test_a_release_without_gpu_code_of_its_own_will_do_beside_torch(capsys: pytest.CaptureFixture[str]) -> None:
    """torchcodec from 0.14 on needs CUDA 13, which driver 535 does not run; older ones decode on the CPU."""
    status, answer = asked(capsys, "solve", "torch", "torchcodec", "--gpu", "T4", "--driver", "535")
    assert (status, chosen(answer)["torchcodec"]) == (0, "0.13.0")


def test_the_kernels_that_are_pinned_decide(capsys: pytest.CaptureFixture[str]) -> None:
    """SGLang from 0.5.12 on pins kernels for CUDA 13: no build of torch for CUDA 12 goes with them."""
    _, answer = asked(capsys, "solve", "sglang", "--gpu", "H100", "--driver", "570")
    assert chosen(answer)["sglang"] == "0.5.10.post1"
    assert "SGLang's index" in {one["channel"] for one in answer["channels"]}


@pytest.mark.no_cover  # a trace costs as much again
@pytest.mark.no_cover  # it is timed
def test_four_packages_are_solved_in_half_a_second(capsys: pytest.CaptureFixture[str]) -> None:
    asked(capsys, "solve", "torch", "transformers", "accelerate", "bitsandbytes", "--gpu", "L4")
    before = time.process_time()
    asked(capsys, "solve", "torch", "torchvision", "diffusers", "xformers", "--gpu", "L4")
    assert time.process_time() - before < 0.5


def test_no_channel_serves_a_driver_that_does_not_know_the_card(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("matrix", "can", "torch==1.13.1", "--gpu", "RTX 5090", "--driver")
    assert execute([*words, "560"]) == 1
    assert "Other channels" not in capsys.readouterr().out
    assert execute([*words, "580.65.06"]) == 1
    assert "Other channels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("torch==2.9.1+cu130 --gpu V100", False),  # CUDA 13.1 has no code for Volta
        ("torch==1.4.0 --gpu sm_120 --driver 570.86", False),  # CUDA 13.1 needs driver 580
        ("torch==1.4.0 --gpu sm_120 --driver 590", True),
    ],
)
def test_a_container_is_offered_to_the_cards_of_its_cuda(
    words: str, offered: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["matrix", "can", *words.split(), "--os", "linux"]) != 0
    assert ("nvcr.io" in capsys.readouterr().out) is offered


@pytest.mark.parametrize("ask", ["cupy-cuda113", "cupy-cuda91", "onnxruntime-gpu==1.20.*"])
def test_a_range_of_releases_is_compared_with_no_channel(ask: str) -> None:
    assert execute(["matrix", "solve", ask, "--os", "linux", "--driver", "590"]) == 0


@pytest.mark.parametrize(
    ("wish", "limit"),
    [
        ("vllm==0.19.1 compressed-tensors==0.20.0", "vllm 0.19.1 requires compressed-tensors==0.15.0.1"),
        ("vllm==0.18.0 transformers==5.24.0", "vllm 0.18.0 requires transformers<5"),
        ("sglang==0.5.9 xgrammar==0.2.8", "sglang 0.5.9 requires xgrammar==0.1.27"),
    ],
)
def test_a_server_holds_the_releases_that_it_pins(wish: str, limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    """From METADATA of the wheels of vLLM and SGLang."""
    assert execute(["matrix", "can", *wish.split(), "--os", "linux"]) == 1
    assert limit in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("ask", ["bitsandbytes --os macos --gpu 'RTX 3080'", "sglang --os windows"])
def test_a_release_is_named_once(ask: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It has a row for each platform."""
    execute(["matrix", "can", *shlex.split(ask)])
    assert not re.search(r"^  (\S+ \S+): no\n.*\1", capsys.readouterr().out, re.M | re.S)
