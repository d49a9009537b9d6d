"""The CUDA kernels against plain calls of NumPy: compiled for the host here, and (slow) by NVRTC for real GPUs."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doctor.commands.bench import images
from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.backends.im2col import Im2col
from doctor.commands.bench.backends.kernels import UPDATES, KernelIm2col, KernelOperations, Kernels
from doctor.commands.bench.model import Model
from doctor.commands.bench.operations import Operations
from doctor.commands.bench.optimisers import KINDS
from doctor.commands.bench.outcome import Optimiser
from doctor.commands.bench.shapes import Geometry, window
from tests.commands.bench.host_kernels import HostLaunch, KernelBackend, build, signatures, source
from tests.commands.bench.small import GEOMETRIES, branched
from tests.commands.bench.test_layers import POOLS
from tests.wheels import fetch, unpack

RANDOM = np.random.default_rng(12)


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> HostLaunch:
    return HostLaunch(build(tmp_path_factory.mktemp("kernels")))


def numbers(*shape: int) -> Any:
    return RANDOM.standard_normal(shape, "float32")


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_columns(launch: HostLaunch, geometry: Geometry) -> None:
    x, dy = numbers(3, geometry.channels, geometry.height, geometry.width), numbers(3, *geometry.output)
    weights = numbers(*geometry.weights)
    plain, ours = Im2col(np, geometry, 1 << 14), KernelIm2col(np, geometry, 1 << 14, launch)
    for found, wanted in [
        (ours.forward(x, weights), plain.forward(x, weights)),
        (ours.backward_data(weights, dy), plain.backward_data(weights, dy)),
        (ours.backward_filter(x, dy), plain.backward_filter(x, dy)),
    ]:
        np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("row", POOLS[:7], ids=lambda row: "-".join(map(str, row.settings.values())))
@pytest.mark.parametrize("size", [(7, 8), (9, 7), (8, 8)])
def test_greatest_values(launch: HostLaunch, row: Any, size: tuple[int, int]) -> None:
    shape = (2, *size)
    both = [one.pooling("max", shape, window(row, shape)) for one in (Operations(np), KernelOperations(np, launch))]
    x = np.round(numbers(3, *shape))  # many equal ones
    (y, place), (our_y, our_place) = (one.forward(x) for one in both)
    np.testing.assert_array_equal(our_y, y)
    np.testing.assert_array_equal(our_place, place)
    dy = numbers(*y.shape)
    plain, ours = (one.backward(dy, place) for one in both)
    np.testing.assert_allclose(ours, plain, atol=1e-5)


def test_average_values_are_computed_plainly(launch: HostLaunch) -> None:
    operations = KernelOperations(np, launch)
    pool = operations.pooling("average", (2, 7, 7), window(POOLS[7], (2, 7, 7)))
    assert type(pool).__name__ == "AveragePooling"


@pytest.mark.parametrize("beta", [0.75, 0.5])
@pytest.mark.parametrize("channels", [2, 7])
def test_normalisation(launch: HostLaunch, beta: float, channels: int) -> None:
    said = {"size": 5, "alpha": 0.4, "beta": beta, "k": 1.5}
    x, dy = numbers(3, channels, 4, 5), numbers(3, channels, 4, 5)
    plain, ours = Operations(np).normalisation(said), KernelOperations(np, launch).normalisation(said)
    (y, kept), (our_y, our_kept) = plain.forward(x), ours.forward(x)
    np.testing.assert_allclose(our_y, y, atol=1e-5)
    np.testing.assert_allclose(ours.backward(dy, our_kept), plain.backward(dy, kept), atol=1e-5)


def test_relu(launch: HostLaunch) -> None:
    y, dy = np.maximum(numbers(3, 4), 0), numbers(3, 4)
    expected = dy * (y > 0)
    np.testing.assert_array_equal(KernelOperations(np, launch).relu_gradient(y, dy), expected)


SAID = {
    "sgd": {"rate": 0.1, "momentum": 0.9, "weight_decay": 0.01, "bias_rate": 2.0, "bias_decay": 0.0},
    "rmsprop": {"rate": 0.01, "decay": 0.9, "epsilon": 1e-8},
    "adadelta": {"rate": 1.0, "decay": 0.95, "epsilon": 1e-6},
}


@pytest.mark.parametrize("is_bias", [False, True])
@pytest.mark.parametrize("kind", SAID)
def test_updates(launch: HostLaunch, kind: str, is_bias: bool) -> None:
    optimiser = Optimiser(kind, SAID[kind])
    plain, ours = KINDS[kind](optimiser, np), UPDATES[kind](optimiser, np, launch)
    weights, our_weights = np.ones(50, "float32"), np.ones(50, "float32")
    for _ in range(4):
        gradient = numbers(50)
        ours.apply([(0, our_weights, gradient.copy(), is_bias)])
        plain.apply([(0, weights, gradient, is_bias)])
    np.testing.assert_allclose(our_weights, weights, rtol=1e-4)


def test_an_optimiser_without_a_kernel_is_computed_plainly(launch: HostLaunch) -> None:
    said = {"rate": 0.1, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}
    assert type(KernelOperations(np, launch).updates(Optimiser("adam", said))).__name__ == "Adam"


def test_a_network_trains_alike_with_kernels(launch: HostLaunch) -> None:
    losses = []
    for backend in (HostBackend(), KernelBackend(launch)):
        model = Model(branched(), backend, 8)
        source = images.Images(*images.made_up(branched(), 8), backend, 8)
        taken = []
        for _ in range(6):
            model.train(*source.take())
            taken.append(model.loss())
        losses.append(taken)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert {"im2col", "max_pool", "max_pool_gradient", "lrn", "lrn_gradient", "sgd"} <= set(launch.launched)


class Recorded:
    """What CuPy is asked for."""

    def __init__(self) -> None:
        self.launches: list[tuple[Any, ...]] = []

    def RawModule(self, code: str) -> Recorded:  # noqa: N802 - CuPy's name
        assert 'extern "C"' in code
        return self

    def get_function(self, name: str) -> Any:
        assert name in signatures()
        return lambda blocks, threads, arguments: self.launches.append((name, blocks, threads, arguments))


@pytest.mark.parametrize(("total", "blocks"), [(1, 1), (256, 1), (257, 2), (74_342_400, 290_400)])
def test_one_thread_an_element(total: int, blocks: int) -> None:
    cupy = Recorded()
    Kernels(cupy)("relu_gradient", ("y", "dy"), total, ())
    ((name, grid, block, arguments),) = cupy.launches
    assert (name, grid, block) == ("relu_gradient", (blocks,), (256,))
    assert arguments == ("y", "dy", total)
    assert arguments[2].dtype == np.int64


# NVRTC, which compiles without a GPU


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "library", "architectures"),
    [
        ("nvidia-cuda-nvrtc-cu12==12.8.93", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", ("sm_50", "sm_75", "sm_90")),
        ("nvidia-cuda-nvrtc==13.0.88", "nvidia/cu13/lib/libnvrtc.so.13", ("sm_75", "sm_90", "sm_120")),
    ],
)
def test_nvrtc_compiles_them(tmp_path: Path, requirement: str, library: str, architectures: tuple[str, ...]) -> None:
    path = unpack(fetch(requirement), tmp_path) / library
    for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins))  # it is looked for by its bare name
    nvrtc = ctypes.CDLL(str(path))
    for architecture in architectures:
        program = ctypes.c_void_p()
        assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source().encode(), b"kernels.cu", 0, None, None) == 0
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
        status = nvrtc.nvrtcCompileProgram(program, 1, options)
        assert status == 0, said(nvrtc, program)
        size = ctypes.c_size_t()
        assert nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0
        assert size.value > 1000


def said(nvrtc: Any, program: Any) -> str:
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode()
