"""`gpudoctor verify` from end to end, on a library of our own that really convolves, and fails where it is told to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from doctor.cli import execute
from doctor.commands.verify import command
from doctor.commands.verify.schema import verification_schema
from doctor.model.schema import as_text
from tests.commands.verify.cudnn_trial import stub
from tests.machine import machine, seen

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "verification.schema.json"
Verify = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    found: dict[str, Path] = {}

    def get(version: str) -> Path:
        if version not in found:
            found[version] = stub.build(tmp_path_factory.mktemp("stub"), version=version)
        return found[version]

    return get


@pytest.fixture
def verify(
    library: Callable[[str], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Verify:
    def tell(version: str, *options: str, level: str = "conv", fault: str = "") -> tuple[int, dict[str, Any]]:
        argv = ["--level", level, "--format", "json", "--cudnn", str(library(version)), *options]
        if fault:
            monkeypatch.setenv("STUB_CUDNN_FAULT", fault)
        status = execute(["verify", "--memory", "host", *argv])
        shown = capsys.readouterr()
        assert shown.err == ""
        report: dict[str, Any] = json.loads(shown.out)
        jsonschema.Draft202012Validator(json.loads(COMMITTED.read_text(encoding="utf-8"))).validate(report)
        return status, report

    return tell


@pytest.mark.parametrize("part", ["heuristic", "engines_precompiled", "engines_runtime_compiled"])
def test_a_part_that_only_a_gpu_would_open_is_missed_without_one(
    part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = stub.build(tmp_path, without=[part], has_cublas=True)
    status = execute(["verify", "--level", "load", "--format", "json", "--cudnn", str(folder)])
    report = json.loads(capsys.readouterr().out)
    assert status == 1
    codes = {one["code"]: one for one in report["findings"]}
    assert "cudnn-sublibrary-missing" in codes
    evidence = [one["detail"] for one in codes["cudnn-sublibrary-missing"]["evidence"]]
    assert any(f"libcudnn_{part}.so.9" in one for one in evidence)
    assert report["answers"] == [] or not any(one["answer"] == "unknown" for one in report["answers"])


@pytest.mark.parametrize(
    ("version", "target", "fault", "status", "code"),
    [
        ("9.10.2", "sm_90", "", 0, ""),
        ("9.10.2", "9.0", "", 0, ""),
        ("9.10.2", "sm_120", "", 1, "cudnn-arch-mismatch"),  # the stub says that its newest is 9.0
        ("9.10.2", "sm_37", "", 1, "cudnn-arch-mismatch"),  # its table begins above
        ("9.10.2", "sm_90", "status:3007@cudnnBackendFinalize", 1, "cudnn-arch-mismatch"),
        ("9.10.2", "sm_90", "status:2000@cudnnBackendFinalize", 4, ""),  # what it wants described is not known
        ("9.10.2", "sm_90", "segv@cudnnBackendFinalize", 4, ""),  # 9.8.0 does for sm_100, and is whole
        ("8.9.7", "sm_90", "", 4, ""),
        ("8.9.7", "sm_120", "", 1, "cudnn-arch-mismatch"),
    ],
)
def test_has_it_engines_for_a_gpu_that_is_not_here(  # noqa: PLR0917
    version: str,
    target: str,
    fault: str,
    status: int,
    code: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = stub.build(tmp_path, version, has_cublas=True)
    monkeypatch.setenv("STUB_CUDNN_FAULT", fault)
    assert execute(["verify", "--for", target, "--format", "json", "--cudnn", str(folder)]) == status
    report = json.loads(capsys.readouterr().out)
    assert report["level"] == "load"
    assert report["target"].replace(".", "") == target.removeprefix("sm_").replace(".", "")
    assert list(roots(report)) == ([code] if code else [])
    if status == 4:
        assert any("was not asked" in one["why"] or "stays open" in one["why"] for one in report["answers"])
    if status == 0:
        stages = {one["name"]: one["facts"] for one in report["copies"][0]["stages"]}
        assert len(stages["plans"]["engines"]) == 6


def test_no_engine_at_all_is_a_damaged_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stub.build(tmp_path, has_cublas=True)
    monkeypatch.setenv("STUB_CUDNN_FAULT", "no-engines@cudnnBackendGetAttribute")
    assert execute(["verify", "--level", "load", "--format", "json", "--cudnn", str(folder)]) == 1
    assert list(roots(json.loads(capsys.readouterr().out))) == ["cudnn-install-incomplete"]


@pytest.mark.parametrize("level", ["conv", "full"])
def test_without_a_gpu_it_is_one_line(
    level: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "look", lambda host, asked: machine(gpus=seen(()), pci=seen(())))
    assert execute(["verify", "--level", level]) == 1
    shown = capsys.readouterr().out
    assert shown == "✗ this machine has no NVIDIA GPU to compute on (--level load needs none)\n"
    assert execute(["verify", "--level", level, "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "failed"
    assert [one["code"] for one in report["findings"]] == ["no-nvidia-gpu"]


def test_a_stage_that_was_not_asked_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["verify", "--level", "load", "--cudnn", str(stub.build(tmp_path, "8.9.7"))]) == 0
    assert "plans     · not asked: cuDNN before 9.8 plans only for a GPU that is there" in capsys.readouterr().out


def test_the_jit_edition_passes_level_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stub.build(tmp_path, without=["ops", "cnn", "adv", "heuristic", "engines_precompiled"])
    assert execute(["verify", "--level", "load", "--cudnn", str(folder)]) == 0
    assert "graph is the only part that can be asked" in capsys.readouterr().out
    assert execute(["verify", "--memory", "host", "--cudnn", str(folder)]) == 0
    assert "convolve  · not asked: NVIDIA's JIT edition leaves the classic functions out" in capsys.readouterr().out
    assert execute(["verify", "--memory", "host", "--level", "full", "--cudnn", str(folder)]) == 4
    assert "classic functions, which NVIDIA's JIT edition leaves out" in " ".join(capsys.readouterr().out.split())


def roots(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["code"]: one for one in report["findings"] if not one["explained_by"]}


def test_the_committed_schema_is_current() -> None:
    wanted = "run: python -m doctor.commands.verify.schema > docs/verification.schema.json"
    assert COMMITTED.read_text(encoding="utf-8") == as_text(verification_schema()), wanted


@pytest.mark.parametrize("version", ["7.6.5", "8.9.7", "9.10.2"])
@pytest.mark.parametrize("level", ["load", "conv"])
def test_a_copy_that_works_passes(level: str, version: str, verify: Verify) -> None:
    status, report = verify(version, level=level)
    assert (status, report["verdict"], report["findings"]) == (0, "passed", [])
    (copy,) = report["copies"]
    assert copy["result"] == "passed"
    assert {stage["status"] for stage in copy["stages"]} == {"passed"}
    assert bool(copy["rows"]) is (level == "conv")
    assert {row["status"] for row in copy["rows"]} <= {"right", "declined", "too-big"}


@pytest.mark.parametrize(
    ("where", "code", "remedy"),
    [
        ("9.10.2 abort@cudnnCreate", "cudnn-crash", "cuDNN 9.10.2"),
        ("9.10.2 segv@cudnnConvolutionForward", "cudnn-crash", "cuDNN 9.10.2"),
        ("8.9.7 abort@cudnnGetVersion", "cudnn-crash", "cuDNN 8.9.7"),
        ("9.10.2 sigbus@cudnnConvolutionBackwardData", "cudnn-install-incomplete", "cuDNN 9.10.2"),
        ("7.6.5 wrong@cudnnConvolutionForward", "cudnn-wrong-result", "Run this again"),
        ("9.10.2 wrong@cudnnConvolutionBackwardFilter", "cudnn-wrong-result", "Run this again"),
        ("7.6.5 status:6@cudnnCreate", "cudnn-arch-mismatch", "cuDNN"),
        ("9.10.2 status:3007@cudnnCreate", "cudnn-arch-mismatch", "cuDNN"),
        ("8.9.7 status:2@cudnnCreate", "out-of-memory-not-a-stack-fault", "Free memory"),
        ("9.10.2 status:4004@cudnnCreate", "out-of-memory-not-a-stack-fault", "Free memory"),
        ("9.10.2 status:1002@cudnnOpsVersionCheck", "cudnn-sublibrary-mixed", "cuDNN 9.10.2"),
        ("8.9.7 status:14@cudnnOpsInferVersionCheck", "cudnn-sublibrary-mixed", "cuDNN 8.9.7"),
        ("9.10.2 status:3009@cudnnCnnVersionCheck", "cudnn-sublibrary-missing", "cuDNN 9.10.2"),
        ("9.10.2 status:1001@cudnnCreate", "cudnn-call-failed", "gpudoctor check"),
        ("9.10.2 status:5000@cudnnConvolutionForward", "cudnn-call-failed", "gpudoctor check"),
        ("7.6.5 status:8@cudnnConvolutionForward", "cudnn-call-failed", "gpudoctor check"),
        ("9.10.2 wrong@cudnnBackendExecute", "cudnn-wrong-result", "Run this again"),
        ("8.9.7 wrong@cudnnBackendExecute", "cudnn-wrong-result", "Run this again"),
        ("9.10.2 status:5000@cudnnBackendExecute", "cudnn-call-failed", "gpudoctor check"),
        ("8.9.7 abort@cudnnBackendExecute", "cudnn-crash", "cuDNN 8.9.7"),
        ("9.10.2 status:3005@cudnnCreate", "driver-too-old-for-runtime", "driver"),
    ],
)
def test_each_fault_is_its_finding(where: str, code: str, remedy: str, verify: Verify) -> None:
    version, _, fault = where.partition(" ")
    status, report = verify(version, fault=fault)
    assert (status, report["verdict"]) == (1, "failed")
    found = roots(report)
    assert set(found) == {code}
    assert remedy in found[code]["remedies"][0]["summary"]
    assert found[code]["evidence"]
    if code == "out-of-memory-not-a-stack-fault":
        assert [one["plan"]["steps"][0]["kind"] for one in found[code]["remedies"]] == ["ByHand"]


@pytest.mark.parametrize("where", ["cudnnBackendExecute", "cudnnConvolutionForward", "cudnnConvolutionBackwardFilter"])
@pytest.mark.parametrize(("status", "code"), [(5000, "cudnn-call-failed"), (4004, "out-of-memory-not-a-stack-fault")])
def test_one_way_that_fails_is_passed_over_as_frameworks_do(where: str, status: int, code: str, verify: Verify) -> None:
    exit_status, report = verify("9.10.2", fault=f"first:{status}@{where}")
    assert (exit_status, report["verdict"]) == (0, "passed")
    (finding,) = report["findings"]
    assert (finding["code"], finding["severity"]) == (code, "warning")
    assert "frameworks pass over it" in finding["summary"]
    assert [row["status"] for row in report["copies"][0]["rows"]].count("failed") == 1


def test_the_graph_api_computes_in_both_layouts(verify: Verify) -> None:
    for level, dtypes in (("conv", {"fp32"}), ("full", {"fp64", "fp32", "tf32", "fp16", "bf16"})):
        rows = [
            one
            for one in verify("9.10.2", level=level)[1]["copies"][0]["rows"]
            if one["algorithm"].startswith("engine")
        ]
        assert {one["dtype"] for one in rows} == dtypes
        assert {one["problem"] for one in rows} == {"3x3", "3x3 nhwc"}
        assert {(one["direction"], one["status"]) for one in rows} == {
            (direction, "right") for direction in ("forward", "backward-data", "backward-filter")
        }


def test_a_hang_is_ended_and_told(verify: Verify) -> None:
    status, report = verify("9.10.2", "--timeout", "2", fault="hang@cudnnCreate")
    assert (status, set(roots(report))) == (1, {"cudnn-hang"})
    assert "cudnnCreate" in report["findings"][0]["summary"]
    assert report["elapsed_s"] < 20


def test_a_fault_after_the_level_does_not_count(verify: Verify) -> None:
    assert verify("9.10.2", level="load", fault="abort@cudnnCreate")[0] == 0


def test_level_full_proves_every_number_format(verify: Verify) -> None:
    status, report = verify("9.10.2", level="full")
    (copy,) = report["copies"]
    assert (status, copy["result"], report["findings"]) == (0, "passed", [])
    right = {row["dtype"] for row in copy["rows"] if row["status"] == "right"}
    assert right == {"fp64", "fp32", "tf32", "fp16", "bf16"}
    assert {row["dims"] for row in copy["rows"]} == {1, 2, 3}
    assert [stage["name"] for stage in copy["stages"]][-3:] == ["matrix", "strategies", "peers"]


def test_two_copies_are_two_trials(library: Any, verify: Verify) -> None:
    status, report = verify("9.10.2", "--cudnn", str(library("8.9.7")))
    assert status == 0
    assert [one["label"].split()[1] for one in report["copies"]] == ["9.10.2", "8.9.7"]


def test_the_same_again_is_the_same_but_for_the_time(verify: Verify) -> None:
    def timeless() -> str:
        report = verify("9.10.2")[1]
        del report["elapsed_s"]
        for copy in report["copies"]:
            for stage in copy["stages"]:
                del stage["now"]
        return json.dumps(report)

    assert timeless() == timeless()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--cudnn", "/no/such/dir"], "--cudnn /no/such/dir: there is no such file or directory"),
        (["--level", "lod"], "did you mean load?"),
        (["--format", "jsn"], "did you mean json?"),
        (["--framework", "trch"], "did you mean torch?"),
        (["--for", "blackwell"], "--for blackwell: give a GPU's architecture, as sm_120 or 12.0"),
        (["--gpu", "first"], "--gpu first: give a number, or all"),
        (["--timeout", "0"], "--timeout: give a number of seconds above 0"),
        (["--timeout", "nan"], "--timeout 'nan': a time such as 5s"),
        (["--timeout", "soon"], "'soon'"),
        (["--python", "/no/such/python"], "/no/such/python"),
        (["--memory", "disk"], "known are cupy, host"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = execute(["verify", *argv])
    shown = capsys.readouterr()
    assert (status, shown.out) == (2, "")
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1


def test_an_output_that_cannot_be_written(library: Any, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["verify", "--level", "load", "--cudnn", str(library("9.10.2")), "--output", "/no/such/dir/report.txt"]
    assert execute(argv) == 2
    assert "/no/such/dir/report.txt" in capsys.readouterr().err


def test_it_goes_to_a_file(library: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.json"
    argv = ["verify", "--level", "load", "--cudnn", str(library("9.10.2")), "--format", "json", "--output", str(target)]
    assert execute(argv) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(target.read_text(encoding="utf-8"))["verdict"] == "passed"


def test_redacted(library: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home/jane"
    shutil.copytree(library("9.10.2"), home / "cudnn")
    argv = ["--level", "load", "--format", "json", "--redact", "--cudnn", str(home / "cudnn")]
    assert execute(["verify", *argv]) == 0
    shown = capsys.readouterr().out
    assert "/home/jane" not in shown
    assert "/home/<user>/cudnn/libcudnn.so.9" in shown
