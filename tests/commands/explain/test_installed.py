"""The toolkit, the variables and cuDNN of a dump: what is shown is judged, what may be left out is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.model.facts.seen import Seen, Unseen, value_or
from doctor.model.finding import Status
from tests.commands.explain.test_dumps import FOLDER, report, text_of

_CUDNN_8 = ("", "_adv_infer", "_adv_train", "_cnn_infer", "_cnn_train", "_ops_infer", "_ops_train")
_HERE = "/usr/lib/x86_64-linux-gnu"


def answers(text: str, code: str) -> set[Status]:
    return {one.kind for one in report(text).answers if one.code == code}


def with_cudnn(*releases: str) -> str:
    """collect_env of 2.9.1, whose loader's cache has all libraries of cuDNN 8, of these releases in turn."""
    files = [f"{_HERE}/libcudnn{kind}.so.{releases[n % len(releases)]}" for n, kind in enumerate(_CUDNN_8)]
    return text_of("collect_env-2.9.1").replace(f"{_HERE}/libcudnn.so.8.9.7", "\n".join(files))


def vllm(*variables: str) -> str:
    head = ("=" * 30, "     Environment Variables", "=" * 30)
    return "\n".join((text_of("vllm"), *head, *variables, ""))


@pytest.mark.parametrize(
    ("name", "cuda", "nvcc"),
    [
        ("collect_env-2.0.1", "11.7", "nvcc"),
        ("cudnn-frontend-1.32", "13.0", "/usr/local/bin/nvcc"),
        ("cudnn-frontend-1.32-variables", "13.0", "/usr/local/bin/nvcc"),
        ("ds_report", "12.1", None),
        ("cupy-13", None, "/usr/local/cuda/bin/nvcc"),
        ("tensorflow-2.4", "11.0", None),
        ("collect_env-2.9.1", None, None),
        ("nvidia-smi-580", None, None),
    ],
)
def test_the_toolkit(name: str, cuda: str | None, nvcc: str | None) -> None:
    found = value_or(report(text_of(name)).facts.toolkit.toolkits, ())
    assert [str(one.cuda.value) for one in found if isinstance(one.cuda, Seen)] == [one for one in (cuda,) if one]
    assert [one.nvcc.value for one in found if isinstance(one.nvcc, Seen)] == [one for one in (nvcc,) if one]
    assert all(isinstance(one.has_headers, Unseen) for one in found)


def test_what_its_nvcc_builds_does_not_start_on_an_old_driver() -> None:
    text = text_of("collect_env-2.0.1").replace("535.129.03", "450.80.02")
    assert answers(text, "driver-too-old-for-toolkit") == {Status.OK}  # 11.7 starts there, by minor compatibility
    assert answers(text.replace("11.7.99", "12.1.105"), "driver-too-old-for-toolkit") == {Status.BAD}
    assert Status.BAD not in answers(text_of("collect_env-2.9.1"), "driver-too-old-for-toolkit")


def test_two_nvccs_are_of_two_machines() -> None:
    both = text_of("collect_env-2.0.1") + text_of("collect_env-2.0.1").replace("11.7.99", "12.1.105")
    assert isinstance(report(both).facts.toolkit.toolkits, Unseen)


def test_variables_that_hide_the_gpus() -> None:
    code = "cuda-visible-devices-empty-or-invalid"
    assert answers(vllm("LD_LIBRARY_PATH=/usr/local/cuda/lib64", "CUDA_VISIBLE_DEVICES=7"), code) == {Status.BAD}
    assert answers(vllm("CUDA_VISIBLE_DEVICES=1,0"), code) == {Status.OK}
    assert answers(vllm(), code) == {Status.OK}  # all that are set are listed
    assert answers(text_of("vllm"), code) == {Status.UNKNOWN}
    assert answers(vllm("CUDA_VISIBLE_DEVICES=0") + vllm("CUDA_VISIBLE_DEVICES=7"), code) == {Status.UNKNOWN}


def test_variables_end_with_their_section() -> None:
    facts = report(vllm("CUDA_HOME=/usr/local/cuda", "and then", "CUDA_VISIBLE_DEVICES=7")).facts
    assert [one.name for one in facts.configuration.variables.get()] == ["CUDA_HOME"]


def test_variables_of_cudnn_frontend() -> None:
    facts = report(text_of("cudnn-frontend-1.32-variables")).facts
    found = {one.name: one.value for one in facts.configuration.variables.get()}
    assert found["LD_LIBRARY_PATH"] == "/opt/cudnn/lib"
    assert found["CUDA_HOME"] == "/usr/local/cuda-12.4"
    assert {one.name for one in facts.toolkit.names.get()} == {"nvcc on PATH", "CUDA_HOME"}
    # where torch names the GPUs, those are what the variable leaves: nothing can be told of it
    by_torch = text_of("cudnn-frontend-1.32-variables").replace(
        "GPUs (torch)         : <torch", "GPU 0 (CUDA order) : NVIDIA A10 | SM86 | 72 SMs | 22.1 GiB\nx : <torch"
    )
    assert isinstance(report(by_torch).facts.configuration.variables, Unseen)


def test_parts_of_cudnn() -> None:
    code = "cudnn-sublibrary-mixed"
    assert answers(with_cudnn("8.9.7"), code) == {Status.OK}
    assert answers(with_cudnn("8.9.7", "8.4.1"), code) == {Status.BAD}
    assert answers(text_of("collect_env-2.9.1"), code) == {Status.UNKNOWN}
    assert [str(one.version.get()) for one in report(with_cudnn("8.9.7")).facts.cudnn.get()] == ["8.9.7"]


@pytest.mark.parametrize("text", [with_cudnn("8.9.7"), text_of("collect_env-2.9.1")], ids=["all", "cut short"])
def test_a_list_of_cudnns_is_not_whole(text: str) -> None:
    """A wheel's cuDNN is in no list of the loader's cache: that 9 is not there is not known."""
    for code in ("cudnn-missing", "cudnn-wrong-major", "cudnn-install-incomplete", "cudnn-copies-conflict"):
        assert Status.BAD not in answers(text, code), code


def test_windows() -> None:
    path = r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v11.8\bin\cudnn64_8.dll"
    facts = report(text_of("collect_env-2.9.1").replace(f"{_HERE}/libcudnn.so.8.9.7", path)).facts
    assert [one.path for one in facts.cudnn.get()] == ["C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin"]
    assert isinstance(facts.cudnn.get()[0].version, Unseen)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_they_blame_nothing_that_was_not_blamed(path: Path) -> None:
    new = {"driver-too-old-for-toolkit", "toolkit-path-conflict", "cuda-headers-missing", "variable-leads-astray"}
    found = report(path.read_text(encoding="utf-8")).findings
    assert not {one.code for one in found} & new
    assert not [one for one in found if one.code.startswith("cudnn-")]
