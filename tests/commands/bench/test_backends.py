"""Convolutions by im2col, and by cuDNN's functions, against the float64 reference, tap by tap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doctor.commands.bench import algorithms, images
from doctor.commands.bench.algorithms import Measured
from doctor.commands.bench.backends.cudnn import CudnnBackend, NoAlgorithm, problem
from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.backends.im2col import Im2col
from doctor.commands.bench.model import Model
from doctor.commands.bench.shapes import Geometry
from doctor.commands.verify.cudnn_trial.convolution import ALGORITHMS
from doctor.commands.verify.cudnn_trial.cudnn_api import Cudnn
from doctor.commands.verify.cudnn_trial.reference import convolve
from tests.commands.bench.small import GEOMETRIES, branched
from tests.commands.verify.cudnn_trial import stub

RANDOM = np.random.default_rng(8)
BATCH = 3
LIMIT_BYTES = 64 << 20


def expected(direction: str, a: Any, b: Any, geometry: Geometry) -> Any:
    return convolve(direction, a, b, problem(geometry, BATCH, "fp64"))


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("columns_bytes", [1, 1 << 30])
def test_im2col_is_a_convolution(geometry: Geometry, columns_bytes: int) -> None:
    """One image at a time, and all at once."""
    im2col = Im2col(np, geometry, columns_bytes)
    x = RANDOM.standard_normal((BATCH, geometry.channels, geometry.height, geometry.width))
    weights = RANDOM.standard_normal(geometry.weights)
    dy = RANDOM.standard_normal((BATCH, *geometry.output))
    for found, wanted in [
        (im2col.forward(x, weights), expected("forward", x, weights, geometry)),
        (im2col.backward_data(weights, dy), expected("backward-data", weights, dy, geometry)),
        (im2col.backward_filter(x, dy), expected("backward-filter", x, dy, geometry)),
    ]:
        np.testing.assert_allclose(found, wanted, atol=1e-11)


def test_the_host_keeps_float32() -> None:
    convolver = HostBackend().convolver("conv", GEOMETRIES[0], BATCH)
    x = RANDOM.standard_normal((BATCH, 3, 8, 7), "float32")
    y = convolver.forward(x, RANDOM.standard_normal((4, 3, 3, 3), "float32"))
    assert y.dtype == np.float32
    assert y.flags.c_contiguous


# cuDNN, by a library that has its functions and computes on the host


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stub.build(tmp_path_factory.mktemp("stub")) / "libcudnn.so.9"


def with_cudnn(library: Path, limit_bytes: int = LIMIT_BYTES) -> CudnnBackend:
    base = HostBackend()
    cudnn = Cudnn(str(library))
    cudnn.create_handle(base.stream)
    return CudnnBackend(base, cudnn, "fp32", limit_bytes, lambda _: None)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_cudnn_is_asked_for_the_same_convolution(library: Path, geometry: Geometry) -> None:
    backend = with_cudnn(library)
    convolver = backend.convolver("conv1", geometry, BATCH)
    x = RANDOM.standard_normal((BATCH, geometry.channels, geometry.height, geometry.width), "float32")
    weights = RANDOM.standard_normal(geometry.weights, "float32")
    dy = RANDOM.standard_normal((BATCH, *geometry.output), "float32")
    for found, wanted in [
        (convolver.forward(x, weights), expected("forward", x, weights, geometry)),
        (convolver.backward_data(weights, dy), expected("backward-data", weights, dy, geometry)),
        (convolver.backward_filter(x, dy), expected("backward-filter", x, dy, geometry)),
    ]:
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert set(backend.algorithms) == {f"conv1 {one}" for one in ("forward", "backward-data", "backward-filter")}


@pytest.mark.parametrize("release", ["7.6.5", "8.9.7", "9.10.2"])
def test_a_network_trains_alike_with_and_without_cudnn(tmp_path: Path, release: str) -> None:
    library = stub.build(tmp_path, release) / f"libcudnn.so.{release[0]}"
    losses = []
    for backend in (HostBackend(), with_cudnn(library)):
        model = Model(branched(), backend, 8)
        source = images.Images(*images.made_up(branched(), 8), backend, 8)
        taken = []
        for _ in range(5):
            model.train(*source.take())
            taken.append(model.loss())
        losses.append(taken)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_an_engine_of_the_graph_api_can_be_what_is_chosen(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = with_cudnn(library)
    convolver = backend.convolver("conv1", GEOMETRIES[0], BATCH)
    monkeypatch.setenv("STUB_CUDNN_FAULT", "status:3000@cudnnConvolutionForward")  # of every classic algorithm
    x, weights = (np.full(shape, 2, "float32") for shape in ((BATCH, 3, 8, 7), (4, 3, 3, 3)))
    found = convolver.forward(x, weights)
    assert backend.algorithms["conv1 forward"].startswith("engine ")
    assert found[0, 0, 4, 4] == 27 * 4


def test_without_engines_the_classic_algorithms_are_left(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = with_cudnn(library)
    monkeypatch.setenv("STUB_CUDNN_FAULT", "status:4000@cudnnBackendFinalize")
    found = backend.convolver("conv1", GEOMETRIES[0], BATCH).measured("forward", LIMIT_BYTES, 1)
    assert [one.algorithm for one in found] == list(ALGORITHMS["forward"])
    assert any(one.status == "ran" for one in found)


def test_no_algorithm_within_the_workspace_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = stub.build(tmp_path, "7.6.5") / "libcudnn.so.7"  # which has no engines besides
    convolver = with_cudnn(library).convolver("conv1", GEOMETRIES[0], BATCH)
    monkeypatch.setenv("STUB_CUDNN_FAULT", "status:9@cudnnConvolutionForward")
    with pytest.raises(NoAlgorithm, match="conv1 forward 3x3: IMPLICIT_GEMM"):
        convolver.forward(np.zeros((BATCH, 3, 8, 7), "float32"), np.zeros((4, 3, 3, 3), "float32"))


def test_a_table_has_every_algorithm_once(library: Path) -> None:
    convolver = with_cudnn(library).convolver("conv1", GEOMETRIES[0], BATCH)
    found = convolver.measured("forward", LIMIT_BYTES, 1)
    engines = ["engine 0", "engine 2"]  # of the stub's three, the one that is left out has tensor cores
    assert [one.algorithm for one in found] == [*ALGORITHMS["forward"], *engines]
    assert all(one.ms > 0 for one in found if one.status == "ran")
    assert {one.status for one in found} <= {"ran", "declined", "too-big"}
    assert any(one.status == "ran" for one in found)


def test_a_workspace_above_the_limit_is_not_used(library: Path) -> None:
    convolver = with_cudnn(library).convolver("conv1", GEOMETRIES[0], BATCH)
    for one in convolver.measured("forward", 0, 1):
        assert (one.status == "ran") == (one.workspace_bytes == 0 and one.status not in {"declined", "failed"})


def test_how_a_problem_is_called(library: Path) -> None:
    backend = with_cudnn(library)
    assert backend.convolver("a", GEOMETRIES[5], 2).label == "2x3x23x23 * 8x3x11x11 stride 4"
    assert backend.convolver("b", GEOMETRIES[0], 2).label == "2x3x8x7 * 4x3x3x3"


# Strategies

TABLE = (
    Measured("IMPLICIT_GEMM", "ran", 5.0, 0, ""),
    Measured("IMPLICIT_PRECOMP_GEMM", "ran", 3.0, 4 << 20, ""),
    Measured("GEMM", "ran", 2.0, 100 << 20, ""),
    Measured("FFT", "too-big", 0.0, 900 << 20, ""),
    Measured("DIRECT", "declined", 0.0, 0, "NOT_SUPPORTED"),
)


@pytest.mark.parametrize(
    ("limits", "picked"),
    [
        (
            (8 << 20, 512 << 20),
            {"no-workspace": "IMPLICIT_GEMM", "limited-workspace": "IMPLICIT_PRECOMP_GEMM", "fastest": "GEMM"},
        ),
        ((0, 0), dict.fromkeys(("no-workspace", "limited-workspace", "fastest"), "IMPLICIT_GEMM")),
    ],
)
def test_strategies(limits: tuple[int, int], picked: dict[str, str]) -> None:
    assert algorithms.strategies(TABLE, *limits) == picked


def test_a_strategy_that_finds_nothing_is_left_out() -> None:
    assert algorithms.strategies(TABLE[1:], 8 << 20, 512 << 20).keys() == {"limited-workspace", "fastest"}
    assert algorithms.fastest(TABLE[3:], 1 << 40) is None
