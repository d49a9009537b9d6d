"""Every stage, against a stub library that convolves in host memory, and each way in which it can fail."""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doctor.commands.verify.cudnn_trial import attempt, worker
from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, DIRECTIONS
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.events import EventWriter, read_events
from doctor.commands.verify.cudnn_trial.faults import fault_of
from doctor.commands.verify.cudnn_trial.graph import GraphConvolution
from doctor.commands.verify.cudnn_trial.mapped_files import strangers
from doctor.commands.verify.cudnn_trial.memory import HostMemory
from doctor.commands.verify.cudnn_trial.outcome import LEVELS, Fault, Order, Outcome
from doctor.commands.verify.cudnn_trial.run import run
from doctor.commands.verify.cudnn_trial.stages import device as device_stage
from doctor.commands.verify.cudnn_trial.stages import graph as graph_stage
from doctor.commands.verify.cudnn_trial.stages import strategies as strategies_stage
from doctor.commands.verify.cudnn_trial.stages.convolving import problem_of, problems
from doctor.commands.verify.cudnn_trial.stages.device import extra_for
from doctor.commands.verify.cudnn_trial.stages.peers import peers
from doctor.commands.verify.cudnn_trial.trial import Lacking, StageFailed, Trial
from doctor.probes.driver_api import DriverAnswer
from tests.commands.verify.cudnn_trial import stub
from tests.lab.stub import compiled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stub is built for Linux")
VERSIONS = ("9.10.2", "8.9.7", "7.6.5", "6.0.21", "5.1.5")
PLAIN = ((2, 8, 14, 14), (16, 8, 3, 3), 1)
ABORTED, SEGV, SIGBUS = (int(one) for one in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The main library of a stub of that release."""
    built: dict[str, str] = {}

    def path_of(version: str) -> str:
        if version not in built:
            folder = stub.build(tmp_path_factory.mktemp("copy"), version)
            built[version] = str(folder / f"libcudnn.so.{version[0]}")
        return built[version]

    return path_of


@pytest.fixture(scope="module")
def whole(library: Callable[[str], str]) -> Callable[[str], Outcome]:
    """A sound copy of that release, all stages: the longest trial, and several tests look at it."""
    return functools.cache(lambda version: tried(library(version), "full"))


def tried(library: str, level: str, fault: str = "", **order: Any) -> Outcome:
    environ = {**os.environ, **({"STUB_CUDNN_FAULT": fault} if fault else {})}
    return run(Order(library, level=level, memory="host", **order), environ)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sound_copy_passes(library: Callable[[str], str], whole: Callable[[str], Outcome], version: str) -> None:
    outcome = whole(version)
    assert outcome.has_passed
    assert [one.status for one in outcome.stages] == ["passed"] * len(LEVELS["full"])
    facts = {one.name: one.facts for one in outcome.stages}
    assert facts["version"]["version"] == version
    assert facts["mapped"]["cudnn"]
    assert all(os.path.dirname(one) == os.path.dirname(library(version)) for one in facts["mapped"]["cudnn"])
    before = facts["convolution"]["rows"] + facts["graph"].get("rows", 0)
    in_matrix = outcome.rows[before:][: facts["matrix"]["rows"]]
    found = Counter(row.status for row in in_matrix)
    strategies = outcome.rows[before + facts["matrix"]["rows"] :]
    assert {row.problem for row in strategies} == {"3x3 of 2x4x8x8"}
    assert (facts["matrix"]["right"], facts["matrix"]["declined"]) == (found["right"], found["declined"])
    assert set(found) == {"right", "declined"}


def test_the_whole_matrix_is_gone_through(whole: Callable[[str], Outcome]) -> None:
    """Five dtypes by seven problems by every algorithm of the three passes; each pass of each is proved."""
    outcome = whole("9.10.2")
    matrix = outcome.stage("matrix")
    assert matrix is not None
    assert matrix.facts["rows"] == 5 * 7 * sum(map(len, ALGORITHMS.values()))
    assert matrix.facts["dtypes_without_result"] == {}
    assert matrix.facts["without_result"] == []
    proved = {(row.dtype, row.dims, row.problem, row.direction) for row in outcome.rows if row.status == "right"}
    for dtype in ("fp64", "fp32", "tf32", "fp16", "bf16"):
        for dims, problem in ((1, "3"), (2, "3x3"), (2, "5x5"), (3, "3x3x3"), (2, "3x3 groups 2")):
            assert {(dtype, dims, problem, direction) for direction in DIRECTIONS} <= proved


def test_what_is_multiplied_and_added_is_exact(whole: Callable[[str], Outcome]) -> None:
    """The stub's transforms round, as real ones do."""
    rows = [row for row in whole("9.10.2").rows if row.status == "right" and not row.algorithm.startswith("engine")]
    exact = [row for row in rows if not row.algorithm.startswith(("WINOGRAD", "FFT"))]
    transformed = [row for row in rows if row not in exact]
    assert {(row.tolerance, row.difference) for row in exact} == {(0.0, 0.0)}
    assert any(0 < row.difference <= row.tolerance for row in transformed)
    assert all(row.difference <= row.tolerance for row in transformed)


def test_what_a_release_does_not_have_is_said_and_not_passed_over(whole: Callable[[str], Outcome]) -> None:
    matrix = whole("7.6.5").stage("matrix")
    assert matrix is not None
    silent = matrix.facts["dtypes_without_result"]
    assert silent["tf32"] == "cuDNN 7.6.5 has no TF32"
    assert set(silent) == {"tf32", "bf16"}
    assert "CUDNN_STATUS_BAD_PARAM" in silent["bf16"]


@pytest.mark.parametrize(("version", "rows"), [("7.6.5", 735), ("6.0.21", 630), ("5.1.5", 525)])
def test_older_releases_are_not_asked_for_what_came_later(version: str, rows: int) -> None:
    """Groups came with 7, dilation with 6."""
    major = int(version[0])
    assert len(list(problems(major))) * sum(map(len, ALGORITHMS.values())) == rows


def test_strategies_keep_to_their_workspace(whole: Callable[[str], Outcome]) -> None:
    stage = whole("9.10.2").stage("strategies")
    assert stage is not None
    limits = stage.facts["limits_bytes"]
    assert limits == {"none": 0, "limited": 8 << 20, "fastest": 128 << 20}
    for direction in DIRECTIONS:
        measured = stage.facts["measured"][direction]
        assert measured
        for name, limit in limits.items():
            chosen = stage.facts["chosen"][direction][name]
            fitting = [one for one in measured if one["workspace_bytes"] <= limit]
            assert chosen == min(fitting, key=lambda one: one["time_ms"])


def test_too_much_workspace_is_said(library: Callable[[str], str]) -> None:
    outcome = tried(library("9.10.2"), "conv", workspace_limit_bytes=0)
    too_big = [row for row in outcome.rows if row.status == "too-big"]
    assert too_big
    assert all(row.workspace_bytes > 0 for row in too_big)
    assert sum(one.facts.get("too_big", 0) for one in outcome.stages) == len(too_big)
    assert outcome.has_passed


# What a call answers, the stage that this fails, and how the fault is told.
FAULTS = [
    ("9.10.2", "cudnnCreate", 1001, "handle", "NOT_INITIALIZED"),
    ("8.9.7", "cudnnCreate", 1, "handle", "NOT_INITIALIZED"),
    ("7.6.5", "cudnnCreate", 6, "handle", "ARCH_MISMATCH"),
    ("8.9.7", "cudnnCreate", 2, "handle", "ALLOC_FAILED"),
    ("9.10.2", "cudnnConvolutionForward", 5000, "convolution", "EXECUTION_FAILED"),
    ("9.10.2", "cudnnConvolutionForward", 3007, "convolution", "NOT_SUPPORTED_ARCH_MISMATCH"),  # by every algorithm
    ("9.10.2", "cudnnConvolutionForward", 3009, "convolution", "NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"),
    ("8.9.7", "cudnnConvolutionForward", 8, "convolution", "EXECUTION_FAILED"),
    ("7.6.5", "cudnnConvolutionForward", 9, "convolution", "NOT_SUPPORTED"),
    ("9.10.2", "cudnnConvolutionBackwardData", 4000, "convolution", "INTERNAL_ERROR"),
    ("9.10.2", "cudnnSetTensorNdDescriptor", 2000, "convolution", "BAD_PARAM"),
]


@pytest.mark.parametrize(("version", "function", "status", "stage", "name"), FAULTS)
def test_a_status_fails_its_stage(  # noqa: PLR0917 - a row of the table
    library: Callable[[str], str], version: str, function: str, status: int, stage: str, name: str
) -> None:
    outcome = tried(library(version), "conv", f"status:{status}@{function}")
    failed = next(one for one in outcome.stages if one.status == "failed")
    assert failed.name == stage
    assert failed.fault is not None
    assert failed.fault._replace(text="") == Fault("cudnn", function, status, f"CUDNN_STATUS_{name}", "")
    assert [one.status for one in outcome.stages if one is not failed] == ["passed"] * (len(outcome.stages) - 1)
    assert outcome.ending.kind == "exited"
    assert not outcome.has_passed


def test_a_wrong_number_is_shown_in_its_rows(library: Callable[[str], str]) -> None:
    outcome = tried(library("9.10.2"), "full", "wrong@cudnnConvolutionForward")
    wrong = [row for row in outcome.rows if row.status == "wrong"]
    assert {row.direction for row in wrong} == {"forward"}
    assert all("values differ, most at (" in row.detail and row.difference > row.tolerance for row in wrong)
    assert [one.name for one in outcome.stages if one.status == "failed"] == ["convolution", "matrix", "strategies"]
    right = {row.direction for row in outcome.rows if row.status == "right" and not row.algorithm.startswith("engine")}
    assert right == {"backward-data", "backward-filter"}


def test_a_damaged_part_does_not_hide_what_still_works(library: Callable[[str], str]) -> None:
    outcome = tried(library("9.10.2"), "conv", "status:3009@cudnnAdvVersionCheck")
    failed = [one for one in outcome.stages if one.status == "failed"]
    assert [one.name for one in failed] == ["parts"]
    name = "CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"
    assert failed[0].fault == Fault("cudnn", "VersionCheck of adv", 0, name, f"adv: {name}")
    assert failed[0].facts["parts"] == {"graph": "", "ops": "", "cnn": "", "adv": name}
    assert outcome.stages[-1].name == "graph"
    assert not outcome.has_passed


# version, parts that are not there, cuBLAS beside it, -> status of stage plans, what it says
PLANS = [
    ("9.10.2", (), True, "passed", "engine 0"),
    ("9.10.2", (), False, "passed", "libcublasLt.so.12, which it needs for that, is not found from here"),
    ("9.5.1", (), True, "passed", "cuDNN before 9.8 plans only for a GPU that is there"),
    ("8.9.7", (), True, "passed", "cuDNN before 9.8 plans only for a GPU that is there"),
    ("9.10.2", ("engines_precompiled",), True, "failed", "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"),
    ("9.10.2", ("heuristic",), True, "failed", "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"),
]


@pytest.mark.parametrize(("version", "without", "has_cublas", "status", "says"), PLANS)
def test_engines_are_opened_without_a_gpu(  # noqa: PLR0917
    tmp_path: Path, version: str, without: tuple[str, ...], has_cublas: bool, status: str, says: str
) -> None:
    folder = stub.build(tmp_path, version, without=without, has_cublas=has_cublas)
    outcome = tried(str(folder / f"libcudnn.so.{version[0]}"), "load")
    stage = outcome.stage("plans")
    assert stage is not None
    assert stage.status == status
    assert says in (stage.fault.name if stage.fault else stage.facts["planned"] or stage.facts["not_asked"])
    assert outcome.stages[-1].name == "mapped"  # what is left can still be learnt
    assert outcome.has_passed is (status == "passed")
    if without:
        assert f"Unable to load any of {{libcudnn_{without[0]}.so.9" in outcome.ending.stderr


def test_an_answer_about_the_description_is_no_fault(tmp_path: Path) -> None:
    library = stub.build(tmp_path, has_cublas=True) / "libcudnn.so.9"
    stage = tried(str(library), "load", "status:2000@cudnnBackendSetAttribute").stage("plans")
    assert stage is not None
    assert stage.status == "passed"
    assert "CUDNN_STATUS_BAD_PARAM" in stage.facts["not_asked"]


def test_a_plain_convolution_without_an_engine_is_a_fault(tmp_path: Path) -> None:
    library = stub.build(tmp_path, has_cublas=True) / "libcudnn.so.9"
    outcome = tried(str(library), "load", "no-engines@cudnnBackendGetAttribute")
    stage = outcome.stage("plans")
    assert stage is not None
    assert stage.fault is not None
    assert (stage.status, stage.fault.kind) == ("failed", "no-engine")
    assert not outcome.has_passed


def test_the_jit_edition_is_whole_and_has_nothing_classic(tmp_path: Path) -> None:
    parts = ("ops", "cnn", "adv", "heuristic", "engines_precompiled")
    library = str(stub.build(tmp_path, "9.10.2", without=parts) / "libcudnn.so.9")
    assert tried(library, "load").has_passed
    assert tried(library, "conv").has_passed  # by the graph API alone
    stage = next(one for one in tried(library, "full").stages if one.status == "missing")
    assert (stage.name, stage.status, stage.lacks) == ("matrix", "missing", "classic")


def test_a_jit_edition_that_names_no_engine_is_not_at_fault(tmp_path: Path) -> None:
    parts = ("ops", "cnn", "adv", "heuristic", "engines_precompiled")
    library = str(stub.build(tmp_path, "9.10.2", without=parts) / "libcudnn.so.9")
    outcome = tried(library, "conv", "no-engines@cudnnBackendGetAttribute")
    stage = outcome.stages[-1]
    assert (stage.name, stage.status, stage.lacks) == ("graph", "missing", "engines")
    assert {row.status for row in outcome.rows} == {"declined"}
    assert not outcome.has_passed


def test_no_engine_where_the_classic_functions_convolve_is_a_fault(library: Callable[[str], str]) -> None:
    outcome = tried(library("9.10.2"), "conv", "no-engines@cudnnBackendGetAttribute")
    stage = outcome.stages[-1]
    assert stage.fault is not None
    assert (stage.name, stage.fault.kind) == ("graph", "no-engine")
    assert stage.fault.text == "cuDNN has no engine for a plain 3x3 convolution, fp32 forward"


@pytest.mark.parametrize(("version", "is_asked"), [("8.0.5", False), ("8.2.4", False), ("8.3.0", True)])
def test_releases_without_these_heuristics_are_not_asked(version: str, is_asked: bool, tmp_path: Path) -> None:
    """CUDNN_HEUR_MODE_A and _FALLBACK came with 8.3; before, cuDNN refuses their numbers, and is whole."""
    outcome = tried(str(stub.build(tmp_path, version) / "libcudnn.so.8"), "conv")
    assert outcome.has_passed
    stage = outcome.stage("graph")
    assert stage is not None
    assert ("before 8.3" in stage.facts.get("not_asked", "")) is not is_asked


def test_an_api_that_fails_is_one_row_a_pass(library: Callable[[str], str]) -> None:
    outcome = tried(library("9.10.2"), "conv", "status:5000@cudnnBackendSetAttribute")
    rows = [row for row in outcome.rows if row.algorithm.startswith("engine")]
    assert [row.status for row in rows] == ["failed"] * 6


def test_a_plan_is_made_when_those_before_it_were_not_right(
    library: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    plan_of = GraphConvolution._plan

    def counted(self: GraphConvolution, config: int) -> Any:
        made.append(config)
        return plan_of(self, config)

    monkeypatch.setattr(GraphConvolution, "_plan", counted)
    trial = Trial(Order(library("9.10.2"), memory="host"), EventWriter(io.StringIO()))
    trial.cudnn, trial.memory = Cudnn(trial.order.library), HostMemory()
    trial.cudnn.create_handle()
    problem = problem_of("fp32", PLAIN)
    assert [one.row.status for one in graph_stage._attempts(trial, problem, "forward")] == ["right"]
    assert len(made) == 1
    trial.cudnn.destroy_handle()


DEATHS = [
    ("9.10.2", "abort@cudnnGetVersion", ("version", "cudnnGetVersion"), ABORTED),
    ("8.9.7", "abort@cudnnCnnInferVersionCheck", ("parts", "cudnnCnnInferVersionCheck"), ABORTED),
    ("9.10.2", "segv@cudnnCreate", ("handle", "cudnnCreate"), SEGV),
    ("7.6.5", "sigbus@cudnnConvolutionForward", ("convolution", "forward IMPLICIT_GEMM fp32 2D 3x3"), SIGBUS),
    ("9.10.2", "abort@cudnnConvolutionBackwardFilter", ("convolution", "backward-filter ALGO_0 fp32 2D 3x3"), ABORTED),
]


@pytest.mark.parametrize(("version", "fault", "under_way", "number"), DEATHS, ids=[one[1] for one in DEATHS])
def test_a_death_says_where(
    library: Callable[[str], str], version: str, fault: str, under_way: tuple[str, str], number: int
) -> None:
    outcome = tried(library(version), "conv", fault)
    stage, _ = under_way
    assert (outcome.ending.kind, outcome.ending.code) == ("signal", number)
    assert (outcome.ending.stage, outcome.ending.doing) == under_way
    assert outcome.stages[-1].name == stage
    assert outcome.stages[-1].status == "cut-off"
    assert not outcome.has_passed


def test_a_hang_is_ended(library: Callable[[str], str]) -> None:
    outcome = tried(library("9.10.2"), "conv", "hang@cudnnCreate", stage_timeout_s=1.5)
    assert outcome.ending.kind == "timed-out"
    assert (outcome.ending.stage, outcome.ending.doing) == ("handle", "cudnnCreate")


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"", "file too short"), (b"no library" * 100, "invalid ELF header"), (None, "cannot open shared object file")],
)
def test_what_is_no_library_is_a_fault_of_the_loader(tmp_path: Path, content: bytes | None, text: str) -> None:
    path = tmp_path / "libcudnn.so.9"
    if content is not None:
        path.write_bytes(content)
    outcome = tried(str(path), "load")
    assert [one.status for one in outcome.stages] == ["failed"]
    fault = outcome.stages[0].fault
    assert fault is not None
    assert (fault.kind, fault.name) == ("loader", "OSError")
    assert text in fault.text
    assert outcome.ending == outcome.ending._replace(kind="exited", code=0)


def test_an_empty_part_fails_the_stage_and_the_rest_is_still_asked(
    library: Callable[[str], str], tmp_path: Path
) -> None:
    main = tmp_path / "libcudnn.so.9"
    main.write_bytes(Path(library("9.10.2")).read_bytes())
    (tmp_path / "libcudnn_engines_precompiled.so.9").touch()
    load = tried(str(main), "load").stages[0]
    assert load.status == "failed"
    assert load.fault is not None
    assert "file too short" in load.fault.text
    assert "engines_precompiled" in load.facts["preload_errors"]


# --- the GPU, which is not here


def trial(**order: Any) -> Trial:
    return Trial(Order("/opt/cudnn/libcudnn.so.9", **order), EventWriter(io.StringIO()))


class Versions:
    """What the device stage wants to know of a copy."""

    def __init__(self, cudart_version: int | None) -> None:
        self.cudart_version = cudart_version


NO_DRIVER = DriverAnswer("libcuda.so.1: cannot open shared object file", 0, "", "", 0, 0)
HEALTHY = DriverAnswer("", 0, "", "", 13000, 1)
NO_DEVICE = DriverAnswer("", 100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected", 13000, 0)
MISMATCH = DriverAnswer("", 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported combination", 13000, 0)


@pytest.mark.parametrize(
    ("answer", "installed", "gpu", "lacking"),
    [
        (NO_DRIVER, {"numpy", "cupy"}, 0, ["driver"]),
        (NO_DRIVER, set(), 0, ["driver", "numpy", "cupy"]),
        (NO_DEVICE, {"numpy", "cupy"}, 0, ["gpu"]),
        (HEALTHY, {"numpy", "cupy"}, 1, ["gpu"]),  # the second of one
        (HEALTHY, {"numpy"}, 0, ["cupy"]),
        (HEALTHY, set(), 0, ["numpy", "cupy"]),
    ],
)
def test_what_is_not_here_is_named(
    monkeypatch: pytest.MonkeyPatch, answer: DriverAnswer, installed: set[str], gpu: int, lacking: list[str]
) -> None:
    monkeypatch.setattr(device_stage, "ask_driver", lambda: answer)
    monkeypatch.setattr(device_stage, "find_spec", lambda name: name if name in installed else None)
    one = trial(gpu=gpu)
    one.cudnn = Versions(13000)  # type: ignore[assignment]
    with pytest.raises(Lacking) as caught:
        device_stage.device(one)
    assert [caught.value.what, *caught.value.facts["also_lacks"]] == lacking
    assert caught.value.facts["extra"] == "cuda13"


def test_a_driver_that_does_not_start_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_stage, "ask_driver", lambda: MISMATCH)
    one = trial()
    one.cudnn = Versions(12090)  # type: ignore[assignment]
    with pytest.raises(StageFailed) as caught:
        device_stage.device(one)
    assert caught.value.fault == Fault("cuda", "cuInit", 803, MISMATCH.name, MISMATCH.text)


@pytest.mark.parametrize(
    ("cudart_version", "extra"),
    [(13050, "cuda13"), (13000, "cuda13"), (12090, "cuda12"), (11080, "cuda12"), (None, "cuda12")],
)
def test_the_extra_has_the_cuda_of_the_copy(cudart_version: int | None, extra: str) -> None:
    assert extra_for(cudart_version) == extra


class CUDARuntimeError(RuntimeError):  # as CuPy's is named
    status = 35


class OutOfMemoryError(MemoryError):
    pass


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (
            CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient"),
            Fault("cuda", "", 35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient"),
        ),
        (OutOfMemoryError("9 bytes"), Fault("cuda", "cudaMalloc", 2, "cudaErrorMemoryAllocation", "9 bytes")),
        (CudnnError("cudnnCreate", 4, "CUDNN_X", "t"), Fault("cudnn", "cudnnCreate", 4, "CUDNN_X", "t")),
        (KeyError("a"), Fault("python", "", 0, "KeyError", "'a'")),
    ],
)
def test_exceptions_as_faults(error: Exception, fault: Fault) -> None:
    assert fault_of(error) == fault


def test_tf32_is_not_claimed_where_fp32_would_run(library: Callable[[str], str]) -> None:
    """A GPU before compute capability 8.0 multiplies fp32 instead, and the right answer would prove nothing."""
    one = trial()
    one.cudnn, one.capability = Cudnn(library("9.10.2")), (7, 5)
    rows = [each.row for each in attempt.attempts(one, problem_of("tf32", PLAIN), ALGORITHMS)]
    assert {row.status for row in rows} == {"declined"}
    assert {row.detail for row in rows} == {"a GPU of compute capability 7.5 has no TF32"}


class Blurred(HostMemory):
    """Answers come back a millionth off, as from a transform."""

    def down(self, block: Any) -> Any:
        return block * np.float32(1 + 1e-6)


def test_what_must_be_exact_and_is_not_is_wrong(library: Callable[[str], str]) -> None:
    """A millionth is within the tolerance of Winograd and FFT, and not within that of products and sums."""
    one = trial()
    one.cudnn, one.memory = Cudnn(library("9.10.2")), Blurred()
    one.cudnn.create_handle()
    rows = [each.row for each in attempt.attempts(one, problem_of("fp32", PLAIN), ALGORITHMS)]
    computed = [row for row in rows if row.status != "declined"]
    assert {row.status for row in computed if row.tolerance == 0} == {"wrong"}
    assert {row.status for row in computed if row.tolerance > 0} == {"right"}
    assert all(0 < row.difference < 1e-5 for row in computed)


class ManyGpus(HostMemory):
    """Copies between GPUs, of which one link is bad."""

    def __init__(self, bad: tuple[int, int] | None) -> None:
        super().__init__()
        self.bad = bad

    def gpus(self) -> int:
        return 3

    def copy_to_peer(self, array: Any, source: int, target: int) -> Any:
        copied = array.copy()
        if (source, target) == self.bad:
            copied[-1] ^= 1
        return copied

    def reaches_peer(self, source: int, target: int) -> bool:
        return source != 2


def test_every_pair_of_gpus_copies() -> None:
    one = trial()
    one.memory = ManyGpus(None)
    facts = peers(one)
    assert facts["gpus"] == 3
    assert [(pair["source"], pair["target"]) for pair in facts["pairs"]] == [
        (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1),
    ]  # fmt: skip
    assert [pair["direct"] for pair in facts["pairs"]] == [True] * 4 + [False] * 2


def test_a_bad_link_is_named_and_the_others_are_still_tried() -> None:
    one = trial()
    one.memory = ManyGpus((1, 2))
    with pytest.raises(StageFailed, match="from GPU 1 to GPU 2 1 of 1048576 words arrived changed") as caught:
        peers(one)
    assert len(caught.value.facts["pairs"]) == 6
    assert sum(pair["changed"] for pair in caught.value.facts["pairs"]) == 1


@pytest.mark.parametrize(
    ("name", "bend", "words"),
    [
        ("up", lambda array: array + 1, "1024 of 1024 numbers came back changed"),
        ("down", lambda array: np.where(np.arange(array.size) == 5, 0, array), "1 of 1024 numbers came back changed"),
    ],
)
def test_memory_that_forgets_is_a_fault(
    monkeypatch: pytest.MonkeyPatch, name: str, bend: Callable[[Any], Any], words: str
) -> None:
    monkeypatch.setattr(HostMemory, name, lambda self, array: bend(array))
    one = trial(memory="host")
    one.cudnn = Versions(12090)  # type: ignore[assignment]
    with pytest.raises(StageFailed, match=words):
        device_stage.device(one)


# --- which files are mapped


def test_files_of_another_copy_are_strangers(tmp_path: Path) -> None:
    mine, other, farm = (tmp_path / name for name in ("mine", "other", "farm"))
    for folder in (mine, other, farm):
        folder.mkdir()
    for name in ("libcudnn.so.9", "libcudnn_ops.so.9"):
        (mine / name).touch()
        (farm / name).symlink_to(mine / name)
    (other / "libcudnn_ops.so.9").touch()
    own = [str(mine / "libcudnn.so.9"), str(mine / "libcudnn_ops.so.9")]
    alien = str(other / "libcudnn_ops.so.9")
    assert strangers(own, own[0]) == ()
    assert strangers([*own, alien], own[0]) == (alien,)
    assert strangers(own, str(farm / "libcudnn.so.9")) == ()  # a directory of links
    assert strangers([alien], str(farm / "libcudnn.so.9")) == (alien,)
    (farm / "libcudnn_graph.so.9").symlink_to(alien)
    assert strangers([alien], str(farm / "libcudnn.so.9")) == ()  # linked there on purpose


def test_a_part_of_another_copy_is_found_out(tmp_path: Path) -> None:
    """The main library opens a part by bare name, its own directory has none, and the loader finds another copy's."""
    mine, other = tmp_path / "mine" / "libcudnn.so.9", tmp_path / "other" / "libcudnn_ops.so.9"
    for path in (mine, other):
        path.parent.mkdir()
        shutil.copyfile(compiled(Path(__file__).with_name("front.c")), path)
    outcome = tried(str(mine), "load", library_dirs=(str(other.parent),))
    mapped = outcome.stages[-1]
    assert (mapped.name, mapped.status) == ("mapped", "failed")
    assert mapped.fault == Fault("other-copy", "", 0, "", str(other))
    assert sorted(mapped.facts["cudnn"]) == sorted([str(mine), str(other)])
    shutil.copyfile(other, mine.with_name(other.name))
    whole_copy = tried(str(mine), "load", library_dirs=(str(other.parent),)).stage("mapped")
    assert whole_copy is not None
    assert whole_copy.status == "passed"


# --- the child itself


def test_the_stages_are_those_of_the_level() -> None:
    of_node = [name for name in LEVELS["node"] if name not in LEVELS["full"]]
    assert tuple(worker._STAGES) == (*LEVELS["full"], *of_node)


def test_an_error_of_ours_is_a_failed_stage_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    one = Trial(Order("/a", level="load"), EventWriter(stream))
    monkeypatch.setitem(worker._STAGES, "load", lambda trial: dict[str, Any]()["x"])
    worker.go_through(one)
    stage = read_events(stream.getvalue().encode(), 1.0).stages[0]
    assert stage.fault == Fault("python", "", 0, "KeyError", "'x'")


def test_facts_are_json_and_documented(whole: Callable[[str], Outcome]) -> None:
    """Each key of each stage's facts stands in the docstring of that stage."""
    for stage in whole("9.10.2").stages:
        json.dumps(dict(stage.facts), allow_nan=False)
        said = worker._STAGES[stage.name].__doc__ or ""
        undocumented = [
            key
            for key in stage.facts
            if key != "memory_bytes" and f"`{key}`" not in said and "as `convolution`'s" not in said
        ]
        assert not undocumented, f"{stage.name}: {undocumented}"


def test_strategies_do_not_take_more_than_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    one = trial()
    one.memory = HostMemory()
    monkeypatch.setattr(HostMemory, "space_bytes", lambda self: (100, 1000))
    assert strategies_stage._most_bytes(one) == 50
