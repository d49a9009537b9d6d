"""Level node, with CUDA, cuBLAS, NVRTC and NCCL that compute on the host and fail on demand: a process for each GPU."""

from __future__ import annotations

import _ctypes
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from doctor.cli import execute
from doctor.commands.verify import command, node
from doctor.commands.verify.copies import Manner, gpus_of
from doctor.commands.verify.cudnn_trial.memory import HostMemory
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Order
from doctor.commands.verify.cudnn_trial.stages.nvrtc import _KERNEL
from doctor.commands.verify.node import link_gb_per_s
from doctor.commands.verify.subject import Known
from doctor.commands.verify.verification import GpuTried
from doctor.host.live import LiveHost
from doctor.model.finding import Status
from tests.commands.verify.cudnn_trial import stub
from tests.commands.verify.test_command import COMMITTED
from tests.lab.stub import compiled
from tests.machine import gpu, machine, seen
from tests.rules.case import MATRIX

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-ins are built for Linux")
HERE = Path(__file__).parent
Node = Callable[..., tuple[int, dict[str, Any]]]
Tell = Callable[..., tuple[GpuTried, ...]]
# The kernel's own text as C++ for the host: thread after thread.
ON_HOST = """
struct dimension { unsigned int x; };
static dimension blockIdx, blockDim, threadIdx;
#define __global__
%s
typedef unsigned int number;
extern "C" __attribute__((visibility("default")))
void run_mix(number blocks, number threads, number* given, number* made, number n) {
    blockDim.x = threads;
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) mix(given, made, n);
}
"""


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what may be mapped: any real library does, under these names."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("cublas", "nvrtc", "nccl"):
        shutil.copy(_ctypes.__file__, folder / f"lib{name}.so.12")
    shutil.copy(compiled(HERE / "stub_cuda.c"), folder / "libcuda.so.1")
    source = folder / "mix.cpp"
    source.write_text(ON_HOST % _KERNEL, encoding="utf-8")
    shutil.copy(compiled(source), folder / "libmix.so")
    return folder


@pytest.fixture
def beside(libraries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """CuPy and a driver beside gpudoctor, and two GPUs in the machine."""
    monkeypatch.syspath_prepend(str(HERE / "stand_in"))
    monkeypatch.syspath_prepend(str(HERE.parents[2]))
    monkeypatch.setenv("STAND_IN", str(libraries))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(libraries))
    cards = seen((gpu(number=0, pci_address=seen("00000000:01:00.0")), gpu(number=1)))
    monkeypatch.setattr(command, "look", lambda host, asked: machine(gpus=cards))
    return stub.build(tmp_path / "cudnn")


@pytest.fixture
def ask(beside: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Node:
    def tell(fault: str = "", *options: str, on: str = "") -> tuple[int, dict[str, Any]]:
        monkeypatch.setenv("STAND_IN_FAULT", fault)
        monkeypatch.setenv("STAND_IN_FAULT_GPU", on)
        argv = ["--level", "node", "--cudnn", str(beside), "--memory", "host", "--format", "json", *options]
        status = execute(["verify", *argv])
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        jsonschema.Draft202012Validator(json.loads(COMMITTED.read_text(encoding="utf-8"))).validate(report)
        return status, report

    return tell


@pytest.fixture
def tried(beside: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[GpuTried, ...]]:
    """The GPUs alone: what a copy of cuDNN does is another test's."""

    def tell(fault: str, gpus: tuple[int, ...] = (0,), on: str = "") -> tuple[GpuTried, ...]:
        monkeypatch.setenv("STAND_IN_FAULT", fault)
        monkeypatch.setenv("STAND_IN_FAULT_GPU", on)
        manner = Manner(Known(LiveHost({}), machine(), MATRIX), Order(""), lambda text: None)
        return node._try_gpus((), gpus, manner)

    return tell


def states(report: dict[str, Any], number: int = 0) -> dict[str, str]:
    return {one["name"]: one["status"] for one in report["gpus"][number]["stages"]}


def ends(one: GpuTried) -> dict[str, str]:
    return {stage.name: stage.status for stage in one.outcome.stages}


def test_a_node_on_which_everything_computes_is_ready(ask: Node) -> None:
    status, report = ask()
    assert (status, report["verdict"], report["level"]) == (0, "passed", "node")
    assert [one["gpu"] for one in report["gpus"]] == [0, 1]
    for number in (0, 1):
        assert states(report, number) == dict.fromkeys(LEVELS["node"], "passed")
    assert [one["gpu"] for one in report["copies"]] == [0, 1]
    facts = {one["name"]: one["facts"] | one["now"] for one in report["gpus"][0]["stages"]}
    assert facts["cublas"]["dtypes"] == dict.fromkeys(("fp64", "fp32", "tf32", "fp16", "bf16"), "right")
    assert [Path(one).name for one in facts["cublas"]["libraries"]] == ["libcublas.so.12"]
    assert facts["nvrtc"]["version"] == "12.9"
    assert {way: speed > 0 for way, speed in facts["copies"]["gb_per_s"].items()} == {
        "to the GPU": True,
        "to the host": True,
    }
    assert set(facts["peers"]["gb_per_s"]) == {"0 to 1", "1 to 0"}
    assert (facts["nccl"]["gpus"], facts["nccl"]["by"]) == (2, "CuPy")
    assert facts["device"]["extra"] == "cuda13"  # by the driver: no copy says which CUDA
    second = {one["name"]: one["facts"] for one in report["gpus"][1]["stages"]}
    assert second["peers"] == {"not_asked": "GPU 0's trial copies between all"}
    for stage in ("cublas", "nvrtc", "copies", "nccl"):
        assert 0 < facts[stage]["memory_bytes"] <= 256 << 20


WRONG = {
    "wrong@gemmEx": ("cublas", "gpu-wrong-result", "a product of matrices in bf16 is wrong: 1 of 30720 values differ"),
    "wrong@kernel": ("nvrtc", "gpu-wrong-result", "1 of 65536 numbers are wrong"),
    "wrong@memcpyAsync": ("copies", "gpu-wrong-result", "1 of 16777216 words came back changed"),
    "wrong@memcpyPeer": ("peers", "gpu-wrong-result", "from GPU 0 to GPU 1 1 of 1048576 words arrived changed"),
    "wrong@allReduce": ("nccl", "gpu-wrong-result", "the sum over 2 GPUs is wrong: 1 of 1048576 values differ"),
    "raise@gemmEx": ("cublas", "cuda-call-failed", "CUBLAS_STATUS_EXECUTION_FAILED"),
    "raise@compile": ("nvrtc", "cuda-call-failed", "invalid value for --gpu-architecture"),
    "raise@allReduce": ("nccl", "nccl-failed", "NCCL_ERROR_SYSTEM_ERROR"),
    "damaged@cublas": ("cublas", "cuda-library-damaged", "file too short"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_found_and_the_others_are_still_tried(tried: Tell, fault: str) -> None:
    stage, code, words = WRONG[fault]
    one, *_ = tried(fault, (0, 1) if stage in {"peers", "nccl"} else (0,))
    assert one.result == "failed"
    assert {name for name, state in ends(one).items() if state != "passed"} == {stage}
    assert tuple(ends(one)) == LEVELS["node"]
    (answer,) = one.answers
    assert (answer.kind, answer.code, answer.subject) == (Status.BAD, code, "CUDA on GPU 0")
    assert words in answer.why
    assert answer.needs


@pytest.mark.parametrize("library", ["cublas", "nvrtc", "nccl"])
def test_a_library_that_is_missing_here_is_no_fault_and_no_pass(tried: Tell, library: str) -> None:
    one, *_ = tried(f"missing@{library}", (0, 1) if library == "nccl" else (0,))
    assert (one.result, one.answers) == ("incomplete", ())
    assert {name for name, state in ends(one).items() if state == "missing"} == {library}
    name = {"cublas": "cuBLAS", "nvrtc": "NVRTC", "nccl": "NCCL"}[library]
    assert f"{name} beside gpudoctor (install " in one.lacks


@pytest.mark.parametrize("library", ["cublas", "nvrtc", "nccl"])
def test_right_numbers_of_another_library_prove_nothing(tried: Tell, library: str) -> None:
    (one,) = tried(f"not-used@{library}")
    assert (one.result, ends(one)[library]) == ("incomplete", "failed")
    (answer,) = one.answers
    assert (answer.kind, answer.code) == (Status.UNKNOWN, "cuda-library-not-used")
    assert "mapped" in answer.why


def test_numbers_that_do_not_lie_on_the_gpu_are_not_its_own(tried: Tell) -> None:
    (one,) = tried("on-host")
    assert one.result == "failed"
    assert [answer.code for answer in one.answers] == ["framework-without-gpu"]
    assert ends(one) == {"device": "failed"}


def test_no_stage_takes_numbers_of_the_host_for_the_gpus(tried: Tell) -> None:
    (one,) = tried("on-host-later")
    faults = {stage.name: stage.fault.kind for stage in one.outcome.stages if stage.fault}
    assert faults == dict.fromkeys(("cublas", "nvrtc", "copies", "nccl"), "unused")
    assert {answer.code for answer in one.answers} == {"framework-without-gpu"}
    assert not HostMemory().is_on_gpu(None)


@pytest.mark.parametrize(
    ("fault", "stage", "code"),
    [("die@gemmEx", "cublas", "cuda-call-failed"), ("die@allReduce", "nccl", "nccl-failed")],
)
def test_a_process_that_dies_is_a_finding(tried: Tell, fault: str, stage: str, code: str) -> None:
    (one,) = tried(fault)
    assert (one.result, [answer.code for answer in one.answers]) == ("failed", [code])
    assert ends(one)[stage] == "cut-off"
    assert one.outcome.ending.kind == "signal"


def test_one_gpu_that_fails_keeps_the_others_waiting_no_longer_than_allowed(
    tried: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process of GPU 1 is gone: GPU 0 says that it did not come, and its own faults are none."""
    monkeypatch.setattr(node, "_GPUS_S", 12.0)
    first, second = tried("die@gemmEx", (0, 1), on="1")
    assert ends(second) == {"device": "passed", "cublas": "cut-off"}
    assert [answer.subject for answer in second.answers] == ["CUDA on GPU 1"]
    assert ends(first) == {**dict.fromkeys(LEVELS["node"], "passed"), "nccl": "missing"}
    assert (first.result, first.answers) == ("incomplete", ())
    assert "GPU 1 did not come to the all-reduce" in first.lacks


def test_a_hang_is_ended(tried: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "_GPUS_S", 6.0)
    (one,) = tried("hang@allReduce")
    assert one.outcome.ending.kind == "timed-out"
    assert [answer.code for answer in one.answers] == ["nccl-failed"]


@pytest.mark.parametrize("cupy", ["13.6.0", "14.0.1"])
def test_the_groups_id_is_that_of_each_cupy(tried: Tell, cupy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_CUPY", cupy)
    assert [ends(one)["nccl"] for one in tried("", (0, 1))] == ["passed", "passed"]


@pytest.fixture
def through_torch(tried: Tell, monkeypatch: pytest.MonkeyPatch) -> Tell:
    monkeypatch.syspath_prepend(str(HERE / "stand_in_torch"))
    monkeypatch.setenv("STAND_IN_NCCL", "unknown")
    return tried


@pytest.mark.parametrize("cupys", ["absent", "unknown"])
def test_where_cupy_has_no_nccl_it_is_pytorchs(
    through_torch: Tell, cupys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_NCCL", cupys)
    for one in through_torch("", (0, 1)):
        facts = one.outcome.stages[-1].facts
        assert (one.result, facts["by"], facts["version"], facts["gpus"]) == ("passed", "PyTorch", "2.27.5", 2)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("wrong@all_reduce", "gpu-wrong-result"),
        ("raise@all_reduce", "nccl-failed"),
        ("die@all_reduce", "nccl-failed"),
        ("on-host@all_reduce", "framework-without-gpu"),
    ],
)
def test_pytorchs_nccl_that_fails_is_a_finding(through_torch: Tell, fault: str, code: str) -> None:
    (one,) = through_torch(fault)
    assert (one.result, [answer.code for answer in one.answers]) == ("failed", [code])


def test_an_old_card_has_no_tf32_and_one_gpu_needs_no_nccl(tried: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN_MAJOR", "7")
    (one,) = tried("missing@nccl")
    assert one.result == "passed"
    facts = {stage.name: stage.facts for stage in one.outcome.stages}
    assert facts["cublas"]["dtypes"]["tf32"] == "not before compute capability 8.0"
    assert facts["cublas"]["dtypes"]["fp16"] == "right"
    assert "one GPU" in facts["nccl"]["not_asked"]


def test_one_table_and_one_verdict(
    beside: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = ["verify", "--level", "node", "--cudnn", str(beside), "--memory", "host"]
    assert execute(argv) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("✓ this machine is ready to train on 2 GPUs\n")
    lines = [line.split() for line in shown.splitlines() if line[2:5] in {"0 I", "1 I"}]
    assert [line[:5] for line in lines] == [[number, "Imagined", "GPU", "✓", "✓"] for number in ("0", "1")]
    assert [line[-1] for line in lines] == ["✓", "✓"]
    assert max(map(len, shown.splitlines())) <= 80
    monkeypatch.setenv("STAND_IN_FAULT", "wrong@gemmEx")
    assert execute(argv) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("✗ this machine is not ready to train on 2 GPUs\n")
    assert "gpu-wrong-result" in shown
    monkeypatch.setenv("STAND_IN_FAULT", "missing@cublas")
    assert execute(argv) == 4
    told = " ".join(capsys.readouterr().out.split())
    assert "is unknown: level node needs cuBLAS beside gpudoctor (install 'gpudoctor[cuda13]')" in told


@pytest.mark.parametrize(
    ("width", "generation", "bus", "expected"),
    [
        (16, 4, "0000:01:00.0", 31.504),
        (8, 3, "0000:01:00.0", 7.88),
        (16, 9, "0000:01:00.0", 0.0),  # no row, no figure
        (16, 4, "0000:02:00.0", 0.0),
    ],
)
def test_what_a_link_carries(width: int, generation: int, bus: str, expected: float) -> None:
    card = gpu(pci_address=seen("00000000:01:00.0"), link_width=seen(width), link_generation_max=seen(generation))
    assert link_gb_per_s(machine(gpus=seen((card,))), bus) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("level", "wanted", "expected"),
    [("conv", None, (0,)), ("node", None, (0, 1)), ("node", "1", (1,)), ("load", None, (0,))],
)
def test_which_gpus_are_meant(level: str, wanted: str | None, expected: tuple[int, ...]) -> None:
    facts = machine(gpus=seen((gpu(number=0), gpu(number=1))))
    assert gpus_of(level, wanted, facts) == expected
