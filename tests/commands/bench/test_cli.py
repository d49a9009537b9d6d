"""`gpudoctor bench` as a user types it: what it prints, where it writes, how it exits."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from doctor.cli import execute
from doctor.cli.bench import line_of
from doctor.commands.bench import command
from doctor.commands.bench.command import COMPLETE, INCOMPLETE, SMALL, Options, command_of, order_of
from doctor.commands.bench.encode import encode_bench
from doctor.commands.bench.missing import explained
from doctor.commands.bench.networks import load
from doctor.commands.bench.outcome import Lack, Progress
from doctor.commands.bench.results_table import Report
from doctor.model.facts import Facts
from doctor.output.document import TextStyle
from tests.commands.bench.made import FOUR, report
from tests.commands.bench.test_data import cats_and_dogs
from tests.machine import driver, machine, seen

ROOT = Path(__file__).resolve().parents[3]
QUICK = ("lenet", "--device", "cpu", "--batch", "2", "--steps", "3")


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(encode_bench(report(FOUR))), encoding="utf-8")
    return str(path)


def ran(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 0) -> str:
    assert execute(["bench", *argv]) == status
    out, err = capsys.readouterr()
    assert not (status == 0 and err), err
    return out + err


def test_the_cpu_alone_is_measured_and_nothing_is_lacking(capsys: pytest.CaptureFixture[str]) -> None:
    text = ran(capsys, *QUICK)
    assert re.search(r"^  CPU +[\d.,]+ +[\d.,]+–[\d.,]+ +1\.0 ", text, re.MULTILINE), text
    assert "batch 2, fp32, synthetic data" in text
    assert "Not measured" not in text


def test_its_json_says_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    written = json.loads(ran(capsys, *QUICK, "--format", "json"))
    [timing] = [one for one in written["timings"] if one["path"] == "cpu"]
    assert (timing["network"], timing["path"], timing["batch"], timing["steps"]) == ("lenet", "cpu", 2, 3)
    assert written["command"] == "gpudoctor bench lenet --device cpu --batch 2 --steps 3"
    assert timing["epoch_s"] == pytest.approx(timing["step_s_median"] * 60_000 / 2)


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="there is a GPU")
def test_a_gpu_that_is_asked_for_and_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    text = ran(capsys, "lenet", "--batch", "2", "--steps", "3", status=INCOMPLETE)
    assert re.search(r"^  CPU +[\d.,]+ +", text, re.MULTILINE)
    missing = text.partition("Not measured")[2]
    assert "GPU: needs " in missing
    assert "an NVIDIA GPU, which this machine does not have" in " ".join(missing.split())


def test_pictures_of_the_users_own(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    root = cats_and_dogs(tmp_path / "data")
    (root / "train" / "cats" / "bad.jpg").write_bytes(b"")
    text = ran(capsys, *QUICK, "--data", str(root), "--format", "json")
    written = json.loads(text)
    [timing] = [one for one in written["timings"] if one["path"] == "cpu"]
    assert (timing["data"], timing["images_per_epoch"]) == (str(root), 6)
    assert [note for note in written["notes"] if "1 pictures could not be read" in note]
    assert "gpudoctor-bench-" not in text


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("lnet",), "no network 'lnet'; did you mean lenet"),
        (("--device", "tpu"), "no device 'tpu'; did you mean gpu"),
        (("--memory-pool", "maybe"), "no way of the memory pool 'maybe'"),
        (("--format", "pdf"), "no format 'pdf'"),
        (("--batch", "-1"), "--batch -1: a number from 1 up"),
        (("--steps", "-1"), "--steps -1: a number from 1 up"),
        (("--gpu", "-1"), "--gpu -1: a number from 0 up"),
        (("--seconds", "0"), "--seconds 0.0: give a number of seconds above 0"),
        (("--seconds", "nan"), "--seconds nan"),
        (("--batch", "many"), "many"),
        (("--cudnn", "/nowhere"), "--cudnn /nowhere: there is no such file or directory"),
        (("--device", "cpu", "--python", "/nowhere"), "/nowhere"),
        (("--device", "cpu", "--data", "/nowhere"), "--data /nowhere: there is no directory /nowhere/train"),
        (("--show", "/nowhere.json"), "/nowhere.json: "),
    ],
)
def test_bad_usage_is_one_line(capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], words: str) -> None:
    text = ran(capsys, *argv, status=2)
    assert words in text
    assert text.count("\n") == 1


def test_a_saved_one_is_shown_again_in_every_format(
    capsys: pytest.CaptureFixture[str], saved: str, tmp_path: Path
) -> None:
    for style, words in (("text", "cifar10 · 45,000"), ("svg", "<svg"), ("markdown", "# Training"), ("json", "{")):
        assert words in ran(capsys, "--show", saved, "--format", style)
    again = json.loads(ran(capsys, "--show", saved, "--format", "json"))
    assert again == json.loads(Path(saved).read_text(encoding="utf-8"))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "gpudoctor.bench/1"}', "[" * 100_000, "\xff"])
def test_a_saved_one_that_is_damaged(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str) -> None:
    path = tmp_path / "saved.json"
    path.write_bytes(content.encode("latin-1"))
    assert "saved.json: " in ran(capsys, "--show", str(path), status=2)


def test_a_page_comes_with_its_chart(capsys: pytest.CaptureFixture[str], saved: str, tmp_path: Path) -> None:
    page = tmp_path / "bench.md"
    assert not ran(capsys, "--show", saved, "--format", "markdown", "--output", str(page))
    assert "](bench.svg)" in page.read_text(encoding="utf-8")
    ET.parse(tmp_path / "bench.svg")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bench.md", "bench.svg", "saved.json"]


def test_an_output_that_cannot_be_written(capsys: pytest.CaptureFixture[str], saved: str, tmp_path: Path) -> None:
    assert "nowhere" in ran(capsys, "--show", saved, "--output", str(tmp_path / "nowhere" / "x"), status=2)


def test_lacks_make_exit_4(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(found: Report) -> int:
        monkeypatch.setattr(command, "_saved", lambda _: found)
        return command.bench(Options(saved="x"), TextStyle(), lambda _: None)[1]

    assert answered(report(FOUR)) == COMPLETE
    assert answered(report(FOUR, paths=("cpu",))) == INCOMPLETE


def test_without_numpy_one_line_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError('No module named numpy', name='numpy')\n")
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    argv = [sys.executable, "-c", "from doctor.cli import main; main()", "bench", *QUICK]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == INCOMPLETE, done.stderr
    assert " ".join(done.stdout.split()).endswith("install 'gpudoctor[bench]'")
    assert done.stdout.startswith("Nothing was measured: ")
    assert not done.stderr


def test_the_networks_that_are_meant() -> None:
    assert [one.name for one in command.chosen_networks(())] == list(SMALL)
    every = {one.name for one in command.chosen_networks(("all",))}
    assert every == {*SMALL, "alexnet", "caffenet", "googlenet"}
    assert [one.name for one in command.chosen_networks(("lenet", "mnist", "lenet"))] == ["lenet", "mnist"]


@pytest.mark.parametrize(
    ("options", "paths", "pools"),
    [
        (Options(), ("cpu", "gpu", "gpu+cudnn"), (True, False)),
        (Options(device="cpu"), ("cpu",), (True, False)),
        (Options(device="gpu", pool="on"), ("gpu", "gpu+cudnn"), (True,)),
        (Options(pool="off"), ("cpu", "gpu", "gpu+cudnn"), (False,)),
    ],
)
def test_the_order(options: Options, paths: tuple[str, ...], pools: tuple[bool, ...]) -> None:
    order = order_of(options, (load("lenet"),))
    assert (order.paths, order.pools) == (paths, pools)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (Options(), "gpudoctor bench"),
        (
            Options(("all",), "gpu", pool="on", style="svg", output="x"),
            "gpudoctor bench all --device gpu --memory-pool on",
        ),
        (Options(data="my cats", gpu=1), "gpudoctor bench --gpu 1 --data 'my cats'"),
    ],
)
def test_the_command_that_measures_the_same_again(options: Options, text: str) -> None:
    assert command_of(options) == text


NO_GPU = machine(gpus=seen(()), pci=seen(()))
CUDA_12 = machine(driver=driver("550.54", "12.4"))


@pytest.mark.parametrize(
    ("lack", "facts", "why"),
    [
        (
            Lack("", "gpu", "cupy", "no module"),
            NO_GPU,
            "needs an NVIDIA GPU, which this machine does not have and CuPy, which does not load beside gpudoctor",
        ),
        (Lack("", "gpu", "cupy", "no module"), CUDA_12, "install 'gpudoctor[cuda12]'"),
        (Lack("", "cpu", "numpy", "no module"), NO_GPU, "install 'gpudoctor[bench]'"),
        (Lack("", "gpu+cudnn", "cudnn", "no copy"), CUDA_12, "needs a copy of cuDNN"),
        (Lack("lenet", "gpu+cudnn", "cudnn", "CUDNN_STATUS_INTERNAL_ERROR"), CUDA_12, "CUDNN_STATUS_INTERNAL_ERROR"),
        (Lack("", "gpu", "gpu", "cudaErrorNoDevice"), NO_GPU, "needs an NVIDIA GPU, which this machine does not have"),
        (Lack("", "gpu", "gpu", "cudaErrorNoDevice"), CUDA_12, "cudaErrorNoDevice"),
        (Lack("alexnet", "gpu", "memory", "too much"), CUDA_12, "too much"),
        (Lack("", "cpu", "", "a crash"), None, "a crash"),
    ],
)
def test_what_lacks_says_what_to_do(lack: Lack, facts: Facts | None, why: str) -> None:
    assert why in explained(lack, facts).why


@pytest.mark.parametrize("done", [0, 1, 3])
def test_the_bar(done: int) -> None:
    line = line_of(Progress(done, 3, "dogs-vs-cats", "gpu", False, "conv1 backward-filter ALGO_1 " * 3), 125.4)
    assert len(line) == 79
    assert line.startswith(f"[{'#' * (20 * done // 3)}")
    assert f"] {done}/3 125 s dogs-vs-cats gpu no pool: conv1" in line


def test_the_bar_of_nothing() -> None:
    assert line_of(Progress(0, 0, "", "cpu", None, ""), 0.0).startswith("[....................] 0/0")


def test_progress_shows_on_a_terminal_and_goes_again() -> None:
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-c", "from doctor.cli import main; main()", "bench", *QUICK]
    done = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=theirs, check=False)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "lenet cpu: " in shown
    assert "] 0/1 " in shown
    assert shown.endswith("\r" + " " * 79 + "\r")
    assert b"\r" not in done.stdout


def test_our_own_process_loads_no_numpy() -> None:
    code = "import sys; from doctor.cli import execute; execute(sys.argv[1:]); "
    code += "print([m for m in ('numpy', 'cupy', 'PIL', 'rich') if m in sys.modules], file=sys.stderr)"
    argv = [sys.executable, "-c", code, "bench", *QUICK]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize(
    "text", ['"><script>alert(1)</script>', "' onload='x", "\x1b[31m\u202e\0", "a\n# b <img src=x>"]
)
def test_a_saved_one_of_somebody_else_says_nothing_but_text(
    capsys: pytest.CaptureFixture[str], saved: str, text: str
) -> None:
    """Names in it are no tags, no attributes, no lines of their own, and nothing for the terminal."""

    def spoilt(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: one if name == "schema" else spoilt(one) for name, one in value.items()}
        if isinstance(value, list):
            return [spoilt(one) for one in value]
        return f"{value}{text}" if isinstance(value, str) else value

    path = Path(saved)
    path.write_text(json.dumps(spoilt(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    plain = ET.fromstring(ran(capsys, "--show", saved, "--format", "svg"))
    tags = {one.tag.rpartition("}")[2] for one in plain.iter()}
    assert not tags & {"script", "img", "foreignObject"}
    assert not [name for one in plain.iter() for name in one.attrib if name.startswith("on")]
    page = ran(capsys, "--show", saved, "--format", "markdown")
    assert not re.search(r"<(script|img)|^# b|\x1b|\u202e", page, re.MULTILINE)
