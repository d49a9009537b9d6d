"""Whole networks: gradients through branches and heads, optimisers, and that they learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from doctor.commands.bench import images, networks
from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.model import Model
from doctor.commands.bench.optimisers import KINDS
from doctor.commands.bench.outcome import Network, Optimiser
from doctor.commands.bench.start import Start
from tests.commands.bench.small import branched, straight
from tests.commands.bench.strict import Device, Refused, StrictBackend, StrictModule
from tests.commands.bench.test_layers import differences


def exact(network: Network, batch: int = 4) -> tuple[Model, Any, Any]:
    """In float64, with a batch of images."""
    random = np.random.default_rng(4)
    model = Model(network, HostBackend(), batch, Start(6, "float64"))
    return model, random.standard_normal((batch, *network.shape)), random.integers(network.classes, size=batch)


def test_gradients_of_a_whole_network() -> None:
    model, pixels, labels = exact(branched())

    def value() -> float:
        model.forward(pixels, labels)
        return model.loss()

    model.forward(pixels, labels)
    model.backward()
    for computed in model.layers:
        for weights, gradient in zip(computed.weights, computed.gradients, strict=True):
            np.testing.assert_allclose(gradient, differences(weights, value), atol=1e-6)


def test_all_heads_make_the_loss() -> None:
    model, pixels, labels = exact(branched())
    model.forward(pixels, labels)
    heads = {one.layer.name: one for one in model.layers if one.layer.kind == "softmax-loss"}
    values = {name: float(one.value) for name, one in heads.items()}  # type: ignore[attr-defined]
    assert model.loss() == pytest.approx(values["aside/loss"] + values["loss"])
    assert values["aside/loss"] < values["loss"]  # its weight is 0.3, and neither knows anything yet


def test_only_what_nobody_else_needs_is_written_over() -> None:
    marks = {one.layer.name: one.may_overwrite for one in Model(branched(), HostBackend(), 4).layers}
    assert {name for name, mark in marks.items() if mark} >= {"relu1", "left/relu", "fc1/relu"}
    assert not marks["left"]
    assert not marks["right"]  # its input goes to another layer as well


@pytest.mark.parametrize("network", [branched(), straight()], ids=["branched", "straight"])
def test_a_network_learns(network: Network) -> None:
    backend = HostBackend()
    model = Model(network, backend, 8)
    source = images.Images(*images.made_up(network, 8), backend, 8)
    losses = []
    for _ in range(200):
        model.train(*source.take())
        losses.append(model.loss())
    assert np.mean(losses[-8:]) < 0.5 * np.mean(losses[:4])


@pytest.mark.parametrize(("name", "batch"), [("cifar10", 8), ("mnist", 8), ("lenet", 8), ("dogs-vs-cats", 2)])
def test_the_smaller_networks_train(name: str, batch: int) -> None:
    network, backend = networks.load(name), HostBackend()
    model = Model(network, backend, batch)
    source = images.Images(*images.made_up(network, batch), backend, batch)
    for _ in range(2):
        model.train(*source.take())
    assert np.isfinite(model.loss())
    assert sum(weights.size for one in model.layers for weights in one.weights) == network.parameters
    assert {weights.dtype.name for one in model.layers for weights in one.weights} == {"float32"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alexnet", "caffenet", "googlenet"])
def test_the_larger_networks_train(name: str) -> None:
    network, backend = networks.load(name), HostBackend()
    model = Model(network, backend, 2)
    source = images.Images(*images.made_up(network, 2), backend, 2)
    for _ in range(2):
        model.train(*source.take())
    assert np.isfinite(model.loss())


def test_equal_seeds_train_alike() -> None:
    losses = []
    for _ in range(2):
        model = Model(straight(), HostBackend(), 4, Start(9))
        source = images.Images(*images.made_up(straight(), 4), HostBackend(), 4)
        for _ in range(3):
            model.train(*source.take())
        losses.append(model.loss())
    assert losses[0] == losses[1]


# By hand: weights 1, gradients 0.5 and then 0.25.
W, G = 1.0, (0.5, 0.25)


def sgd() -> float:
    speed = 0.1 * (G[0] + 0.01 * W)
    first = W - speed
    return first - (0.9 * speed + 0.1 * (G[1] + 0.01 * first))


def sgd_of_a_bias() -> float:
    speed = 0.2 * G[0]
    return W - speed - (0.9 * speed + 0.2 * G[1])


def rmsprop() -> float:
    square = 0.1 * G[0] ** 2
    first = W - 0.01 * G[0] / (square**0.5 + 1e-8)
    square = 0.9 * square + 0.1 * G[1] ** 2
    return float(first - 0.01 * G[1] / (square**0.5 + 1e-8))


def adadelta() -> float:
    weight, square, changes = W, 0.0, 0.0
    for gradient in G:
        square = 0.95 * square + 0.05 * gradient**2
        change = gradient * (changes + 1e-6) ** 0.5 / (square + 1e-6) ** 0.5
        changes = 0.95 * changes + 0.05 * change**2
        weight -= change
    return float(weight)


def adam() -> float:
    weight, mean, square = W, 0.0, 0.0
    for step, gradient in enumerate(G, 1):
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = 0.001 * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
        weight -= rate * mean / (square**0.5 + 1e-8)
    return float(weight)


SGD = {"rate": 0.1, "momentum": 0.9, "weight_decay": 0.01, "bias_rate": 2.0, "bias_decay": 0.0}
ADAM = {"rate": 0.001, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8}


@pytest.mark.parametrize(
    ("kind", "said", "is_bias", "expected"),
    [
        ("sgd", SGD, False, sgd()),
        ("sgd", SGD, True, sgd_of_a_bias()),
        ("sgd", {"rate": 0.1}, False, W - 0.1 * sum(G)),
        ("rmsprop", {"rate": 0.01, "decay": 0.9, "epsilon": 1e-8}, False, rmsprop()),
        ("adadelta", {"rate": 1.0, "decay": 0.95, "epsilon": 1e-6}, False, adadelta()),
        ("adam", ADAM, False, adam()),
    ],
)
def test_optimisers(kind: str, said: dict[str, float], is_bias: bool, expected: float) -> None:
    updates = KINDS[kind](Optimiser(kind, said), np)
    weights = np.array([W])
    for gradient in G:
        updates.apply([(0, weights, np.array([gradient]), is_bias)])
    assert weights[0] == pytest.approx(expected, rel=1e-12)


def test_every_row_s_optimiser_is_known_and_complete() -> None:
    for name in networks.names():
        updates = KINDS[networks.load(name).optimiser.kind](networks.load(name).optimiser, np)
        updates.apply([(0, np.ones(2), np.ones(2), False), (1, np.ones(2), np.ones(2), True)])


# Images


def test_made_up_images_have_the_network_s_shape_and_are_the_same_every_time() -> None:
    network = networks.load("cifar10")
    pixels, labels = images.made_up(network, 8)
    assert pixels.shape == (32, 3, 32, 32)
    assert pixels.dtype == np.uint8
    assert 0 <= labels.min() <= labels.max() < 10
    assert (pixels == images.made_up(network, 8)[0]).all()


def test_batches_begin_again_after_the_last_whole_one() -> None:
    pixels = np.arange(5, dtype="uint8").reshape(5, 1, 1, 1)
    source = images.Images(pixels, np.arange(5), HostBackend(), 2)
    assert [source.take()[1].tolist() for _ in range(3)] == [[0, 1], [2, 3], [0, 1]]
    assert source.take()[0].dtype == np.float32


def test_too_few_images_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 1 images, and a step takes 2"):
        images.Images(np.zeros((1, 1, 1, 1), "uint8"), np.zeros(1, int), HostBackend(), 2)


def saved(folder: Any, pixels: Any, labels: Any) -> str:
    np.save(folder / "x.npy", pixels)
    np.save(folder / "y.npy", labels)
    return str(folder)


def test_a_folder_is_shuffled_and_images_keep_their_labels(tmp_path: Any) -> None:
    network = straight()
    labels = np.arange(40) % 2
    pixels = np.broadcast_to(labels[:, None, None, None], (40, *network.shape)).astype("uint8")
    read, with_labels = images.of_folder(saved(tmp_path, pixels, labels), network)
    assert (read[:, 0, 0, 0] == with_labels).all()
    assert (with_labels != labels).any()


@pytest.mark.parametrize(
    ("shape", "dtype", "label"),
    [((4, 2, 9, 9), "uint8", 0), ((4, 2, 9, 8), "float32", 0), ((3, 2, 9, 8), "uint8", 0), ((4, 2, 9, 8), "uint8", 2)],
)
def test_a_folder_of_other_contents_is_refused(tmp_path: Any, shape: tuple[int, ...], dtype: str, label: int) -> None:
    with pytest.raises(ValueError, match=r"npy holds"):
        images.of_folder(saved(tmp_path, np.zeros(shape, dtype), np.full(4, label)), straight())


# What CuPy would refuse


@pytest.mark.parametrize("network", [branched(), straight()], ids=["branched", "straight"])
def test_nothing_is_mixed_with_numpy_s_arrays(network: Network) -> None:
    losses = []
    for backend in (HostBackend(), StrictBackend()):
        model = Model(network, backend, 8)
        source = images.Images(*images.made_up(network, 8), backend, 8)
        for _ in range(3):
            model.train(*source.take())
        assert {type(weights) for one in model.layers for weights in one.weights} == {type(backend.xp.zeros(1))}
        losses.append(model.loss())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_optimisers_mix_nothing_either(kind: str) -> None:
    xp = StrictModule()
    said = {"rate": 0.1, "decay": 0.9, "epsilon": 1e-8, "beta_1": 0.9, "beta_2": 0.999}
    KINDS[kind](Optimiser(kind, said), xp).apply([(0, xp.ones(3), xp.ones(3), False)])


def test_strictness_is_real() -> None:
    xp = StrictModule()
    device, host = xp.ones(3), np.ones(3)
    mixes: tuple[Callable[[], Any], ...] = (
        lambda: device + host,
        lambda: xp.maximum(device, host),
        lambda: device[np.arange(2)],
    )
    for mix in mixes:
        with pytest.raises(Refused):
            mix()
    assert type(device.sum()) is type(device[0]) is Device
