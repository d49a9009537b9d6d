"""The graph API beside the real headers, and on the real cuDNN: it makes plans for a GPU that is only described."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doctor.commands.verify.cudnn_trial import graph
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.described import USUAL, described
from doctor.commands.verify.cudnn_trial.memory import HostMemory
from doctor.commands.verify.cudnn_trial.numbers import DTYPES, from_storage, operands, to_storage
from doctor.commands.verify.cudnn_trial.reference import convolve
from tests.commands.verify.cudnn_trial import headers, stub
from tests.wheels import fetch, unpack

SINCE_9 = {"DEVICEPROP_JSON_REPRESENTATION", "ENGINEHEUR_DEVICEPROP", "EXECUTION_PLAN_DEVICEPROP"}
NAMES = {
    "BACKEND_CONVOLUTION_DESCRIPTOR": graph.CONVOLUTION,
    "BACKEND_ENGINE_DESCRIPTOR": graph.ENGINE,
    "BACKEND_ENGINECFG_DESCRIPTOR": graph.ENGINE_CONFIG,
    "BACKEND_ENGINEHEUR_DESCRIPTOR": graph.HEURISTIC,
    "BACKEND_EXECUTION_PLAN_DESCRIPTOR": graph.PLAN,
    "BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR": graph.FORWARD,
    "BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR": graph.BACKWARD_FILTER,
    "BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR": graph.BACKWARD_DATA,
    "BACKEND_OPERATIONGRAPH_DESCRIPTOR": graph.GRAPH,
    "BACKEND_VARIANT_PACK_DESCRIPTOR": graph.VARIANT_PACK,
    "BACKEND_TENSOR_DESCRIPTOR": graph.TENSOR,
    "TYPE_HANDLE": graph.HANDLE,
    "TYPE_DATA_TYPE": graph.DATA_TYPE,
    "TYPE_INT64": graph.INT64,
    "TYPE_FLOAT": graph.FLOAT,
    "TYPE_DOUBLE": graph.DOUBLE,
    "TYPE_VOID_PTR": graph.POINTER,
    "TYPE_CONVOLUTION_MODE": graph.MODE,
    "TYPE_HEUR_MODE": graph.HEURISTIC_MODE,
    "TYPE_NUMERICAL_NOTE": graph.NUMERICAL_NOTE,
    "TYPE_BACKEND_DESCRIPTOR": graph.DESCRIPTOR,
    "TYPE_CHAR": graph.CHAR,
    "HEUR_MODE_A": graph.MODES["a"],
    "HEUR_MODE_FALLBACK": graph.MODES["fallback"],
}
# In a process of its own: the library may abort.
PROGRAM = """
import json, sys
from doctor.commands.verify.cudnn_trial.convolution import DIRECTIONS, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.graph import GraphConvolution
library, device = sys.argv[1], sys.argv[2].encode()
cudnn, found = Cudnn(library), {}
for dtype in ("fp64", "fp32", "tf32", "fp16", "bf16"):
    for shape in (((8, 64, 56), (64, 64, 3)), ((8, 64, 56, 56), (64, 64, 3, 3)), ((2, 8, 12, 12, 12), (8, 4, 3, 3, 3))):
        n = len(shape[0]) - 2
        groups = shape[0][1] // shape[1][1]
        problem = Problem(dtype, *shape, (1,) * n, (1,) * n, (1,) * n, groups)
        with GraphConvolution(cudnn, problem, device) as convolution:
            for direction in DIRECTIONS:
                plans = convolution.plans(direction) if device else convolution.operation(direction)
                labels = [one.label for one in plans] if device else []
                found[f"{dtype} {n}D {direction}"] = labels
print(json.dumps(found))
"""


H200 = described(USUAL)


@pytest.fixture(scope="module")
def cudnn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cudnn]:
    folder = stub.build(tmp_path_factory.mktemp("copy"), "9.10.2")
    opened = Cudnn(str(folder / "libcudnn.so.9"))
    opened.create_handle()
    yield opened
    opened.destroy_handle()


PLAIN = Problem("fp32", (2, 4, 7, 6), (6, 4, 3, 3), (1, 1), (1, 1), (1, 1))
PROBLEMS = [
    PLAIN,
    PLAIN._replace(dtype="fp64", stride=(2, 1)),
    PLAIN._replace(dtype="fp16", dilation=(2, 2), padding=(2, 2)),
    PLAIN._replace(dtype="bf16", w=(6, 2, 3, 3), groups=2),
    PLAIN._replace(dtype="tf32", layout="nhwc"),
    Problem("fp32", (2, 4, 9), (6, 4, 3), (1,), (1,), (1,)),
    Problem("fp32", (1, 2, 5, 6, 7), (4, 2, 3, 3, 3), (1, 1, 1), (1, 2, 1), (1, 1, 1)),
]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("problem", PROBLEMS, ids=[f"{one.dtype} {one.dims}D {one.label}" for one in PROBLEMS])
def test_every_engine_gives_the_reference_s_answer(cudnn: Cudnn, problem: Problem, direction: str) -> None:
    memory, (first, second) = HostMemory(), operands(direction, problem)
    expected = convolve(direction, first, second, problem)
    order = _stored if problem.layout == "nhwc" else np.ascontiguousarray
    given = [memory.up(order(to_storage(one, problem.dtype))) for one in (first, second)]
    with graph.GraphConvolution(cudnn, problem) as convolution:
        plans = convolution.plans(direction)
        assert [one.engine for one in plans] == ([0, 2] if problem.dtype == "fp32" else [0, 1, 2])
        for plan in plans:
            out = order(memory.garbage(problem.shapes(direction)[2], DTYPES[problem.dtype].storage))
            room = memory.empty(plan.workspace_bytes)
            addresses = [memory.address(one) for one in (*given, out)]
            convolution.run(direction, plan, addresses, memory.address(room))
            found = np.moveaxis(out, -1, 1) if problem.layout == "nhwc" else out
            assert np.array_equal(from_storage(found, problem.dtype), expected), plan.label


def _stored(array: Any) -> Any:
    """N, C, H, W as it lies in memory with the channel last."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


def test_strict_single_precision_has_no_tensor_cores(cudnn: Cudnn) -> None:
    for dtype, labels in (
        ("fp32", ["engine 0", "engine 2"]),
        ("tf32", ["engine 0", "engine 1 (tensor core)", "engine 2"]),
    ):
        with graph.GraphConvolution(cudnn, PLAIN._replace(dtype=dtype)) as convolution:
            assert [one.label for one in convolution.plans("forward")] == labels


def test_an_engine_that_cannot_be_made_does_not_hide_the_others(cudnn: Cudnn, monkeypatch: pytest.MonkeyPatch) -> None:
    made = graph.GraphConvolution._finalized
    refused: list[int] = []

    def finalized(self: graph.GraphConvolution, kind: int, *attributes: Any) -> int:
        if kind == graph.PLAN and not refused:
            refused.append(kind)
            raise CudnnError("cudnnBackendFinalize", 4001, "CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED", "")
        return made(self, kind, *attributes)

    monkeypatch.setattr(graph.GraphConvolution, "_finalized", finalized)
    with graph.GraphConvolution(cudnn, PLAIN) as convolution:
        found = [one.engine for one in convolution.plans("forward")]
    assert refused
    assert found
    assert len(found) < 3


def test_where_the_data_lie_is_told_once(cudnn: Cudnn, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = HostMemory()
    first, second = (memory.up(one.astype("float32")) for one in operands("forward", PLAIN))
    outs = [memory.garbage(PLAIN.y, "float32") for _ in range(2)]
    with graph.GraphConvolution(cudnn, PLAIN) as convolution:
        plan = convolution.plans("forward")[-1]
        room = memory.empty(plan.workspace_bytes)
        made = len(convolution._made)
        for out in (outs[0], outs[0], outs[1], outs[0]):
            out.fill(np.nan)
            convolution.run(
                "forward", plan, [memory.address(one) for one in (first, second, out)], memory.address(room)
            )
            assert len(convolution._made) == made + 1
            assert np.isfinite(out).all()
        monkeypatch.setattr(convolution, "_finalized", None)  # nothing more is made for the same data
        convolution.run(
            "forward", plan, [memory.address(one) for one in (first, second, outs[0])], memory.address(room)
        )


@pytest.mark.parametrize("fault", ["status:3000@cudnnBackendFinalize", "status:3007@cudnnBackendSetAttribute"])
def test_what_is_refused_is_declined(cudnn: Cudnn, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with graph.GraphConvolution(cudnn, PLAIN) as convolution:
        monkeypatch.setenv("STUB_CUDNN_FAULT", fault)
        with pytest.raises(CudnnError) as caught:
            convolution.plans("forward")
        assert caught.value.is_declined
        monkeypatch.delenv("STUB_CUDNN_FAULT")


def test_before_8_there_is_no_such_api(tmp_path: Path) -> None:
    folder = stub.build(tmp_path, "7.6.5")
    with pytest.raises(CudnnError, match="cudnnBackendCreateDescriptor"):
        graph.GraphConvolution(Cudnn(str(folder / "libcudnn.so.7")), PLAIN).plans("forward")


@pytest.mark.slow
@pytest.mark.parametrize("release", ["8.9.7", "9.10.2", "9.13.0"])
def test_every_number_is_that_of_the_real_headers(release: str, tmp_path: Path) -> None:
    known = headers.numbers(headers.text(release, tmp_path))
    is_8 = release.startswith("8")
    for name, value in graph.ATTRIBUTES.items():
        if not (is_8 and name in SINCE_9):
            assert known[f"ATTR_{name}"] == value, name
    assert {name: known.get(name) for name in NAMES} == NAMES
    notes = {known[f"NUMERICAL_NOTE_{name}"] for name in ("TENSOR_CORE", "DOWN_CONVERT_INPUTS", "FFT", "WINOGRAD")}
    assert notes <= set(graph.NOTES)
    assert [known["NUMERICAL_NOTE_TENSOR_CORE"], known["NUMERICAL_NOTE_DOWN_CONVERT_INPUTS"]] == [0, 1]
    if not is_8:
        assert known["BACKEND_DEVICEPROP_DESCRIPTOR"] == graph.DEVICE


def asked(library: Path, device: bytes, **environ: str) -> dict[str, list[str]]:
    argv = [sys.executable, "-c", PROGRAM, str(library), device.decode()]
    ran = subprocess.run(argv, capture_output=True, text=True, env=environ, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, list[str]] = json.loads(ran.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "name"),
    [("nvidia-cudnn-cu12==8.9.7.29", "libcudnn.so.8"), ("nvidia-cudnn-cu12==9.10.2.21", "libcudnn.so.9")],
)
def test_the_real_library_takes_every_convolution(requirement: str, name: str, tmp_path: Path) -> None:
    """Tensors, convolution and operation are finalized, which checks every attribute; that needs no GPU."""
    unpack(fetch(requirement), tmp_path, ["nvidia/cudnn/lib/"])
    assert len(asked(tmp_path / "nvidia/cudnn/lib" / name, b"")) == 5 * 3 * 3


@pytest.mark.slow
def test_the_real_library_makes_plans_for_a_described_gpu(tmp_path: Path) -> None:
    unpack(fetch("nvidia-cudnn-cu12==9.10.2.21"), tmp_path, ["nvidia/cudnn/lib/"])
    stub.cublas(tmp_path, 12)
    found = asked(
        tmp_path / "nvidia/cudnn/lib/libcudnn.so.9", H200.text(H200.capability), LD_LIBRARY_PATH=str(tmp_path)
    )
    assert len(found) == 5 * 3 * 3
    without = [case for case, plans in found.items() if not plans]
    assert not without
    assert any("tensor core" in plan for plan in found["tf32 2D forward"])
    assert any("tensor core" in plan for plan in found["fp16 2D forward"])
    strict = [plan for case, plans in found.items() if case.startswith("fp32") for plan in plans]
    assert strict
    assert not any("tensor core" in plan or "down-converts" in plan for plan in strict)
