"""What cuDNN is told of a problem, and what it answers."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS, DIRECTIONS, OPERANDS, Convolution, Found, Problem
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn, CudnnError
from doctor.commands.verify.cudnn_trial.memory import HostMemory
from doctor.commands.verify.cudnn_trial.numbers import DTYPES, from_storage, operands, to_storage
from doctor.commands.verify.cudnn_trial.reference import convolve
from doctor.commands.verify.cudnn_trial.stages.convolving import problem_of
from tests.commands.verify.cudnn_trial import stub

PLAIN = problem_of("fp32", ((2, 8, 6, 5), (4, 8, 3, 3), 1))


@pytest.mark.parametrize(
    ("problem", "y", "dims", "label"),
    [
        (PLAIN, (2, 4, 6, 5), 2, "3x3"),
        (problem_of("fp16", ((2, 8, 33), (4, 8, 5), 2)), (2, 4, 33), 1, "5"),
        (problem_of("fp32", ((2, 8, 15, 15), (4, 8, 3, 3), 1), stride=2), (2, 4, 8, 8), 2, "3x3 stride 2"),
        (problem_of("fp32", ((2, 8, 9, 9), (4, 8, 3, 3), 0), dilation=2), (2, 4, 5, 5), 2, "3x3 dilation 2"),
        (problem_of("fp32", ((2, 8, 9, 9), (4, 4, 1, 1), 0), groups=2), (2, 4, 9, 9), 2, "1x1 groups 2"),
        (PLAIN._replace(stride=(2, 1)), (2, 4, 3, 5), 2, "3x3 stride 2x1"),
        (PLAIN._replace(layout="nhwc"), (2, 4, 6, 5), 2, "3x3 nhwc"),
        (problem_of("bf16", ((1, 2, 4, 5, 6), (3, 2, 1, 2, 3), 0)), (1, 3, 4, 4, 4), 3, "1x2x3"),
    ],
)
def test_a_problem(problem: Problem, y: tuple[int, ...], dims: int, label: str) -> None:
    assert (problem.y, problem.dims, problem.label) == (y, dims, label)
    assert problem.shapes("backward-filter") == (problem.x, y, problem.w)


class Recorder:
    """Instead of a copy: keeps what it is told, and answers that the output has the shape that it should."""

    handle = 1

    def __init__(self, major: int, y: tuple[int, ...]) -> None:
        self.major = major
        self.told: list[tuple[str, list[Any]]] = []
        self.alive: dict[int, str] = {}
        self._y = y

    def has(self, function: str) -> bool:
        return self.major >= 7 or function not in {"cudnnSetConvolutionMathType", "cudnnSetConvolutionGroupCount"}

    def create(self, function: str) -> int:
        number = 100 + len(self.alive)
        self.alive[number] = function
        return number

    def call(self, function: str, *args: Any) -> None:
        assert self.has(function)
        if function.startswith("cudnnDestroy"):
            assert self.alive.pop(args[0].value) == function.replace("Destroy", "Create")
        if function == "cudnnGetConvolutionNdForwardOutputDim":
            args[-1][: len(self._y)] = self._y
        self.told.append((function, [list(one) if isinstance(one, ctypes.Array) else one for one in args]))

    def last(self, function: str) -> list[list[Any]]:
        return [args[1:] for name, args in self.told if name == function]


def recorded(problem: Problem, major: int = 9) -> Recorder:
    y = problem.y if problem.dims > 1 else (*problem.y[:2], 1, *problem.y[2:])
    recorder = Recorder(major, y)
    with Convolution(recorder, problem):  # type: ignore[arg-type]
        assert len(recorder.alive) == 4
    assert recorder.alive == {}
    return recorder


@pytest.mark.parametrize(
    ("problem", "tensors", "filters", "convolution"),
    [
        (
            PLAIN,
            [[0, 4, [2, 8, 6, 5], [240, 30, 5, 1]], [0, 4, [2, 4, 6, 5], [120, 30, 5, 1]]],
            [[0, 0, 4, [4, 8, 3, 3]]],
            [[2, [1, 1], [1, 1], [1, 1], 1, 0]],
        ),
        (  # the channel varies fastest
            PLAIN._replace(layout="nhwc", dtype="fp16"),
            [[2, 4, [2, 8, 6, 5], [240, 1, 40, 8]], [2, 4, [2, 4, 6, 5], [120, 1, 20, 4]]],
            [[2, 1, 4, [4, 8, 3, 3]]],
            [[2, [1, 1], [1, 1], [1, 1], 1, 0]],
        ),
        (  # a height of one, which is neither padded nor stepped over
            Problem("fp64", (2, 8, 33), (4, 8, 3), (1,), (2,), (3,)),
            [[1, 4, [2, 8, 1, 33], [264, 33, 33, 1]], [1, 4, [2, 4, 1, 15], [60, 15, 15, 1]]],
            [[1, 0, 4, [4, 8, 1, 3]]],
            [[2, [0, 1], [1, 2], [1, 3], 1, 1]],
        ),
        (
            problem_of("bf16", ((1, 2, 4, 5, 6), (3, 2, 1, 2, 3), 0)),
            [[9, 5, [1, 2, 4, 5, 6], [240, 120, 30, 6, 1]], [9, 5, [1, 3, 4, 4, 4], [192, 64, 16, 4, 1]]],
            [[9, 0, 5, [3, 2, 1, 2, 3]]],
            [[3, [0, 0, 0], [1, 1, 1], [1, 1, 1], 1, 0]],
        ),
    ],
    ids=["2D", "channel last", "1D", "3D"],
)
def test_descriptors(problem: Problem, tensors: list[Any], filters: list[Any], convolution: list[Any]) -> None:
    recorder = recorded(problem)
    assert recorder.last("cudnnSetTensorNdDescriptor") == tensors
    assert recorder.last("cudnnSetFilterNdDescriptor") == filters
    assert recorder.last("cudnnSetConvolutionNdDescriptor") == convolution


@pytest.mark.parametrize(
    ("dtype", "major", "math_type"),
    [
        *(("fp32", major, [[3]]) for major in (8, 9)),  # FMA_MATH: never TF32
        ("fp32", 7, [[0]]),
        *(("tf32", major, [[0]]) for major in (8, 9)),
        *((dtype, major, [[1]]) for dtype in ("fp16", "bf16") for major in (7, 9)),
        ("fp64", 9, [[0]]),
        ("fp32", 6, []),
        ("fp16", 5, []),
    ],
)
def test_how_products_may_be_rounded(dtype: str, major: int, math_type: list[Any]) -> None:
    assert recorded(PLAIN._replace(dtype=dtype), major).last("cudnnSetConvolutionMathType") == math_type


def test_groups_are_told_where_there_are_some() -> None:
    assert recorded(problem_of("fp32", ((1, 4, 5, 5), (4, 2, 3, 3), 1), groups=2)).last(
        "cudnnSetConvolutionGroupCount"
    ) == [[2]]
    assert recorded(PLAIN, 6).last("cudnnSetConvolutionGroupCount") == []


def test_another_output_than_expected_stops_before_anything_is_written() -> None:
    recorder = Recorder(9, (2, 4, 6, 6))
    with pytest.raises(CudnnError, match=r"\(2, 4, 6, 6\), expected \(2, 4, 6, 5\)") as caught:
        Convolution(recorder, PLAIN)  # type: ignore[arg-type]
    assert not caught.value.is_declined
    assert recorder.alive == {}


@pytest.fixture(scope="module", params=["9.10.2", "8.9.7", "7.6.5"])
def cudnn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cudnn]:
    folder = stub.build(tmp_path_factory.mktemp("copy"), request.param)
    opened = Cudnn(str(folder / f"libcudnn.so.{request.param[0]}"))
    opened.create_handle()
    yield opened
    opened.destroy_handle()


def answer(cudnn: Cudnn, problem: Problem, direction: str, algorithm: str) -> tuple[Any, Any]:
    memory, (first, second) = HostMemory(), operands(direction, problem)
    a, b = (memory.up(to_storage(one, problem.dtype)) for one in (first, second))
    out = memory.garbage(problem.shapes(direction)[2], DTYPES[problem.dtype].storage)
    with Convolution(cudnn, problem) as convolution:
        needed = convolution.workspace_bytes(direction, algorithm)
        room = memory.empty(needed)
        addresses = (memory.address(one) for one in (a, b, out))
        convolution.run(direction, algorithm, *addresses, memory.address(room), needed)  # type: ignore[call-arg]
    return from_storage(out, problem.dtype), convolve(direction, first, second, problem)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", ["fp64", "fp32", "fp16"])
def test_each_pass_puts_its_answer_where_it_should(cudnn: Cudnn, dtype: str, direction: str) -> None:
    given, expected = answer(cudnn, PLAIN._replace(dtype=dtype), direction, ALGORITHMS[direction][0])
    assert np.array_equal(given, expected)


def test_a_search_names_algorithms_fastest_first(cudnn: Cudnn) -> None:
    memory = HostMemory()
    for direction in DIRECTIONS:
        blocks = [memory.up(np.zeros(getattr(PLAIN, name), "float32")) for name in "xwy"]
        room = memory.empty(1 << 20)
        x, w, y, workspace = (memory.address(one) for one in (*blocks, room))
        with Convolution(cudnn, PLAIN) as convolution:
            found = convolution.find(direction, x, w, y, workspace, 1 << 20)
        measured = [one for one in found if one.status == 0]
        assert measured
        assert {one.algorithm for one in measured} <= set(ALGORITHMS[direction])
        assert [one.time_ms for one in measured] == sorted(one.time_ms for one in measured)
        assert all(isinstance(one, Found) and one.workspace_bytes >= 0 for one in measured)


def test_operands_and_algorithms_name_every_pass() -> None:
    assert set(OPERANDS) == set(ALGORITHMS) == set(DIRECTIONS)
