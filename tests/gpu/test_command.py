"""`python -m tests.gpu` itself, where there is no GPU: what it says, what it would compare, what its table holds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, DIRECTIONS
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn
from tests.commands.verify.cudnn_trial import stub
from tests.gpu import __main__ as command
from tests.gpu import ratio, steps
from tests.gpu.numpy_torch import numpy_torch
from tests.gpu.problems import KINDS, LAYERS, TINY, all_problems
from tests.gpu.ratio import Asked, Device, Row
from tests.gpu.steps import ROOT, STEPS, Result, Stage, of_ratios


def test_without_a_gpu_every_step_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "gpu_name", lambda: "")
    assert command.main(["--output", str(tmp_path / "out")]) == command.NO_GPU == 4
    assert capsys.readouterr().out == "".join(f"{step}: not run: no GPU\n" for step in STEPS)
    assert not (tmp_path / "out").exists()


def test_the_driver_is_asked_in_a_child() -> None:
    assert isinstance(steps.gpu_name(), str)


@pytest.mark.skipif(bool(steps.gpu_name()), reason="there is a GPU")
@pytest.mark.parametrize("module", ["tests.gpu", "tests.gpu.ratio"])
def test_as_programs_they_end_with_4(module: str, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", module, *([str(tmp_path / "x.json")] if module.endswith("ratio") else ())]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert "not run: " in done.stdout


def test_steps_are_kept_and_the_table_comes_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = {
        "check": [Result("good", "1", True), Result("fact", "2", None)],
        "verify": [Result("a bad one", "3", False)],
    }
    monkeypatch.setattr(command, "gpu_name", lambda: "NVIDIA Test 1")
    monkeypatch.setattr(command, "STEPS", {name: lambda _, found=found: found for name, found in told.items()})
    assert command.main(["--output", str(tmp_path)]) == 1
    assert command.main(["--output", str(tmp_path), "--only", "check"]) == 0
    first = capsys.readouterr().out.partition("check ...")[2].partition("check ...")[0]
    assert "met     good       1\n-       fact       2\nNOT MET a bad one  3\n" in first
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["gpu"] == "NVIDIA Test 1"
    assert [one["what"] for one in summary["results"]] == ["good", "fact"]


def test_check_is_a_real_report_and_is_kept(tmp_path: Path) -> None:
    [result] = steps.check(Stage(tmp_path, ""))
    assert result.is_met, result
    assert json.loads((tmp_path / "check.json").read_text(encoding="utf-8"))["schema"] == "gpudoctor.report/1"


def test_a_program_that_takes_too_long_is_an_answer(tmp_path: Path) -> None:
    code = "import time; print('begun', flush=True); time.sleep(60)"
    done = steps.ran((sys.executable, "-c", code), 2, tmp_path / "kept")
    assert done.status == 124
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "begun\n"


def test_verify_too_slow_or_failing_is_not_met(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for status, seconds, is_met in ((0, 4.9, True), (0, 5.1, False), (4, 1.0, False)):
        answer = steps.Ran(status, '{"findings": [{"code": "a-code"}]}', seconds)
        monkeypatch.setattr(steps, "ran", lambda *_, answer=answer: answer)
        monkeypatch.setattr(steps, "find_spec", lambda name: name)
        *full, quick = steps.verify(Stage(tmp_path, ""))
        assert quick.is_met is is_met
        assert [one.is_met for one in full] == [status == 0] * 3
        assert "a-code" in full[0].figure


def test_a_framework_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(steps, "ran", lambda *_: steps.Ran(0, "{}", 1.0))
    monkeypatch.setattr(steps, "find_spec", lambda name: None)
    told = {one.what.rpartition(", ")[2]: (one.figure, one.is_met) for one in steps.verify(Stage(tmp_path, ""))}
    assert told["jax"] == told["torch"] == ("not installed here", False)
    assert told["cupy"][1] is True


@pytest.mark.parametrize(
    ("status", "seconds", "nccl", "is_met"),
    [(0, 59.0, "passed", True), (0, 61.0, "passed", False), (4, 9.0, "missing", False), (1, 9.0, "failed", False)],
)
def test_a_node_that_is_slow_or_not_ready_is_not_met(  # noqa: PLR0917
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, seconds: float, nccl: str, is_met: bool
) -> None:
    stages = [
        {"name": "copies", "status": "passed", "now": {"gb_per_s": {"to the GPU": 51.2, "to the host": 50.9}}},
        {"name": "nccl", "status": nccl, "now": {}},
    ]
    report = json.dumps({"verdict": "x", "gpus": [{"gpu": 0, "stages": stages}]})
    monkeypatch.setattr(steps, "ran", lambda *_: steps.Ran(status, report, seconds))
    head, speeds = steps.node(Stage(tmp_path, ""))
    assert head.is_met is is_met
    assert ("not passed: nccl" in head.figure) is (nccl != "passed")
    assert (speeds.figure, speeds.is_met) == ("to the GPU 51.2 GB/s, to the host 50.9 GB/s", None)


def test_a_call_takes_nine_minutes_at_most() -> None:
    assert command.SECONDS <= 540


def test_bench_without_a_report_is_not_met(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(steps, "ran", lambda *_: steps.Ran(3, "no json", 1.0))
    every, *missing = steps.bench(Stage(tmp_path, "NVIDIA H200"))
    assert every.is_met is False
    assert [one.figure for one in missing] == ["exit 3"] * len(steps.NETWORKS)


def test_reports_of_single_networks_become_one() -> None:
    saved = json.loads((ROOT / "docs" / "benchmarks" / "bench-cpu.json").read_text(encoding="utf-8"))
    lists = ("networks", "comparisons", "timings")
    singles = [
        {
            **saved,
            "command": f"gpudoctor bench {name}",
            **{kind: [row for row in saved[kind] if name in {row.get("name"), row.get("network")}] for kind in lists},
        }
        for name in (one["name"] for one in saved["networks"])
    ]
    whole = steps.together(singles)
    assert whole.pop("command") == " && ".join(one["command"] for one in singles)
    assert len(singles) > 1
    assert whole == {name: value for name, value in saved.items() if name != "command"}


def test_the_time_is_shared_out_and_what_is_not_used_goes_on() -> None:
    assert set(steps.SHARES) == set(STEPS)
    assert command.share(["bench"], 100.0) == 100.0
    every = list(STEPS)
    assert command.share(every, 500.0) < 500.0 * 0.1
    assert command.share(every[1:], 0.0) == command.share(every, -3.0) == 0.0
    assert Stage(ROOT, "").within(7.0) == 7.0
    assert Stage(ROOT, "", time.monotonic() + 2).within(7.0) == pytest.approx(2, abs=0.5)


def test_a_program_that_is_cut_off_ends_its_own_children_too(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom doctor.host.child import Child\n"
        "with Child((sys.executable, '-c', 'import time; time.sleep(60)'), {}) as child:\n"
        "    print(child._process.pid, flush=True)\n    child.wait(60)\n"
    )
    done = steps.ran((sys.executable, "-c", code), 3, tmp_path / "kept")
    assert done.status == 124
    assert not Path(f"/proc/{int(done.output)}").exists()


def test_the_suite_there_needs_no_package_that_only_developers_have() -> None:
    names = [str(path.relative_to(ROOT)) for path in steps.marked()]
    assert {"tests/gpu/test_stack.py", "tests/gpu/test_trial.py", "tests/probes/test_nvml.py"} <= set(names)
    absent = ("jsonschema", "platformdirs", "elftools", "pefile", "PIL", "ziglang", "tree_sitter")
    code = (
        "import sys, pytest\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {absent}: raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "sys.exit(pytest.main(sys.argv[1:]))\n"
    )
    argv = (sys.executable, "-c", code, "-m", "gpu", "-p", "no:xdist", "-p", "no:cacheprovider", "--collect-only", "-q")
    done = subprocess.run((*argv, *names), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_comparison_that_was_cut_off_is_not_met(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def cut(*_: object) -> steps.Ran:
        ratio.write(str(tmp_path / "ratio.json"), {}, iter([Row(**made(1.2))]))
        return steps.Ran(124, "", 1.0)

    monkeypatch.setattr(steps, "ran", cut)
    [head] = steps.ratio(Stage(tmp_path, ""))
    assert head.is_met is False
    assert head.figure.startswith("1 of 1 do")
    assert "exit 124" in head.figure


# The comparison, on a libcudnn that computes in host memory and NumPy under torch's names


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next(stub.build(tmp_path_factory.mktemp("stub")).glob("libcudnn.so.9"))


def compared(library: Path, monkeypatch: pytest.MonkeyPatch, seconds: float = 60.0) -> list[Row]:
    monkeypatch.setattr(ratio, "ROUNDS", 3)
    monkeypatch.setattr(ratio, "LEAST_MS", 0.01)
    cudnn = Cudnn(str(library))
    cudnn.create_handle(0)
    device = Device(numpy_torch(), on_gpu=False)
    return list(ratio.rows(device, cudnn, Asked(TINY, KINDS[:1], seconds), lambda _: None))


def test_ours_and_theirs_are_timed_and_agree(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared(library, monkeypatch)
    assert [(one.layer, one.direction) for one in found] == [(layer.name, way) for layer in TINY for way in DIRECTIONS]
    for one in found:
        assert not one.problem
        assert one.is_right, one
        assert one.difference < 1e-5
        assert one.classic_by in ALGORITHMS[one.direction]
        assert one.ours_ms > 0
        assert one.ratio == pytest.approx(one.torch_ms / one.ours_ms)


def test_a_wrong_answer_is_no_success(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_CUDNN_FAULT", "wrong@cudnnConvolutionForward")
    monkeypatch.setattr(
        "doctor.commands.verify.cudnn_trial.graph.GraphConvolution.plans", lambda *_: []
    )  # an engine could be the fastest
    found = compared(library, monkeypatch)
    assert {one.direction for one in found if not one.is_right} == {"forward"}
    assert of_ratios([one._asdict() for one in found])[0].is_met is False


def test_what_the_time_did_not_suffice_for_is_no_success(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared(library, monkeypatch, seconds=-1.0)
    assert [one.problem for one in found] == ["not reached in -1 s"] * len(TINY) * len(DIRECTIONS)
    assert of_ratios([one._asdict() for one in found])[0].is_met is False


def test_an_error_is_said_and_no_success(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_CUDNN_FAULT", "status:5000@cudnnConvolutionBackwardData")
    found = compared(library, monkeypatch)
    told = {one.direction: one.problem for one in found}
    assert told["backward-data"].startswith("CudnnError")
    assert not told["forward"]
    head, *rest = of_ratios([one._asdict() for one in found])
    assert head.is_met is False
    assert any("backward-data" in one.what and "CudnnError" in one.figure for one in rest)


def made(ratio_: float, **other: Any) -> dict[str, Any]:
    row = Row(
        "vgg", "3x3", "fp16", "nhwc", "forward", 1.0, "engine 38", 1.2, "WINOGRAD", ratio_, ratio_, 1e-3, True, (), ""
    )
    return {**row._asdict(), **other}


@pytest.mark.parametrize(
    ("rows", "is_met", "figure"),
    [
        ([made(0.98), made(1.3)], True, "2 of 2 do, geometric mean 1.129, least 0.980"),
        ([made(0.979), made(1.3)], False, "1 of 2 do"),
        ([made(1.0, is_right=False)], False, "0 of 1 do"),
        ([made(1.0), made(0.0, problem="no algorithm of ours ran")], False, "1 of 2 do"),
        ([], False, "0 of 0 do"),
    ],
)
def test_the_criterion(rows: list[dict[str, Any]], is_met: bool, figure: str) -> None:
    head, *rest = of_ratios(rows)
    assert head.is_met is is_met
    assert figure in head.figure
    assert bool(rest) is (bool(rows) and not is_met)


def test_a_miss_names_what_torch_ran() -> None:
    _, miss = of_ratios([made(0.9, torch_kernels=("sm90_xmma_fprop",))])
    assert miss.what == "  vgg fp16 nhwc forward"
    assert miss.figure == "0.900: 1.000 ms by engine 38, 0.900 ms; torch ran sm90_xmma_fprop"


def test_every_layer_is_asked_for_in_every_kind() -> None:
    found = list(all_problems())
    assert len(found) == len(LAYERS) * len(KINDS)
    assert {(problem.dtype, problem.layout) for _, problem in found} == set(KINDS)
    assert all(min(problem.y) > 0 for _, problem in found)
    assert {problem.dtype for _, problem in found} <= set(ratio.TOLERANCES)
