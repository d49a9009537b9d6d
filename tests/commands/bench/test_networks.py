"""The rows: weights as published, shapes as known, and nothing that no layer understands."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import prod
from typing import Any

import pytest

from compat.base.errors import DataError
from doctor.commands.bench import networks, shapes
from doctor.commands.bench.outcome import Layer

ALL = ("alexnet", "caffenet", "cifar10", "dogs-vs-cats", "googlenet", "lenet", "mnist")


def test_all_of_them_are_there() -> None:
    assert networks.names() == ALL


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("alexnet", 60_965_224),
        ("caffenet", 60_965_224),
        ("cifar10", 1_250_858),
        ("dogs-vs-cats", 1_212_513),
        ("googlenet", 13_378_280),
        ("lenet", 431_080),
        ("mnist", 600_810),
    ],
)
def test_weights_come_to_the_published_number(name: str, published: int) -> None:
    network = networks.load(name)
    assert shapes.parameters(network) == published == network.parameters
    assert network.parameters_source


@pytest.mark.parametrize(("name", "millions"), [("alexnet", 724), ("googlenet", 1591)])
def test_multiplications_come_to_the_published_number(name: str, millions: int) -> None:
    """Of one image's way forward through convolutions and dense layers."""
    network = networks.load(name)
    known = shapes.shapes(network)
    weights = ((one, shapes.weight_shapes(one, known[one.inputs[0]])[:1]) for one in network.layers)
    total = sum(prod(shape) * prod(known[one.name][1:]) for one, shapes_of in weights for shape in shapes_of)
    assert round(total / 1e6) == millions


@pytest.mark.parametrize(
    ("name", "layer", "shape"),
    [
        ("alexnet", "conv1", (96, 55, 55)),
        ("alexnet", "pool1", (96, 27, 27)),
        ("alexnet", "pool2", (256, 13, 13)),
        ("alexnet", "pool5", (256, 6, 6)),
        ("alexnet", "fc8", (1000,)),
        ("googlenet", "conv1/7x7_s2", (64, 112, 112)),
        ("googlenet", "pool1/3x3_s2", (64, 56, 56)),
        ("googlenet", "pool2/3x3_s2", (192, 28, 28)),
        ("googlenet", "inception_3b/output", (480, 28, 28)),
        ("googlenet", "loss1/ave_pool", (512, 4, 4)),
        ("googlenet", "inception_5b/output", (1024, 7, 7)),
        ("googlenet", "pool5/7x7_s1", (1024, 1, 1)),
        ("cifar10", "flat", (64 * 6 * 6,)),
        ("dogs-vs-cats", "flat", (64 * 17 * 17,)),
        ("lenet", "flat", (800,)),
        ("mnist", "flat", (32 * 12 * 12,)),
    ],
)
def test_shapes(name: str, layer: str, shape: tuple[int, ...]) -> None:
    assert shapes.shapes(networks.load(name))[layer] == shape


def test_alexnet_normalises_before_it_pools_and_caffenet_after() -> None:
    kinds = {name: [one.kind for one in networks.load(name).layers[:4]] for name in ("alexnet", "caffenet")}
    assert kinds == {"alexnet": ["conv", "relu", "lrn", "pool"], "caffenet": ["conv", "relu", "pool", "lrn"]}


def test_googlenet_has_three_heads() -> None:
    losses = [one for one in networks.load("googlenet").layers if one.kind in networks.LOSSES]
    assert [one.settings["weight"] for one in losses] == [0.3, 0.3, 1.0]


@pytest.mark.parametrize("name", ALL)
def test_every_row_has_its_source(name: str) -> None:
    network = networks.load(name)
    assert network.source.startswith("https://")
    assert network.read_on >= "2026-11-21"
    assert network.title
    assert network.images_per_epoch >= network.batch


@pytest.mark.parametrize("name", ALL)
def test_a_row_goes_through_json_and_comes_back(name: str) -> None:
    network = networks.load(name)
    assert networks.parse(json.loads(json.dumps(networks.content_of(network))), name) == network


def change(path: tuple[str | int, ...], value: Any) -> Callable[[dict[str, Any]], None]:
    def put(content: dict[str, Any]) -> None:
        place: Any = content
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return put


@pytest.mark.parametrize(
    "damage",
    [
        change(("schema",), "gpudoctor.network/9"),
        change(("confidence",), "guessed"),
        change(("more",), 1),
        change(("layers", 0, "kind"), "deconvolution"),
        change(("layers", 0, "dilation"), 2),
        change(("layers", 1, "inputs"), ["fc2"]),
        change(("layers", 1, "inputs"), []),
        change(("layers", 1, "name"), "conv1"),
        change(("layers", -1, "kind"), "flatten"),
        lambda content: content["layers"][0].pop("filters"),
        lambda content: content.pop("source"),
    ],
)
def test_a_damaged_row_is_refused(damage: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(json.dumps(networks.content_of(networks.load("cifar10"))))
    damage(content)
    with pytest.raises((ValueError, KeyError, TypeError)):
        networks.parse(content, "cifar10")


def test_a_row_that_is_not_there_is_our_fault() -> None:
    with pytest.raises(DataError, match="vgg"):
        networks.load("vgg")


def test_a_convolution_that_does_not_fit_is_refused() -> None:
    said = {"filters": 8, "kernel": 5, "stride": 1, "padding": 0, "groups": 1}
    with pytest.raises(ValueError, match="is no input"):
        shapes.geometry(Layer("small", "conv", ("data",), said), (3, 4, 4))


@pytest.mark.parametrize(
    ("size", "window", "rounding", "expected"),
    [
        (55, (3, 2, 0), "ceil", 27),
        (112, (3, 2, 0), "ceil", 56),
        (112, (3, 2, 0), "floor", 55),
        (28, (3, 1, 1), "ceil", 28),
        (14, (5, 3, 0), "ceil", 4),
        (5, (2, 2, 0), "ceil", 3),
        (3, (2, 2, 1), "ceil", 2),  # a third window would hold nothing but padding
        (3, (2, 2, 1), "floor", 2),
    ],
)
def test_pooled_sizes(size: int, window: tuple[int, int, int], rounding: str, expected: int) -> None:
    said = dict(zip(("kernel", "stride", "padding"), window, strict=True), method="max", rounding=rounding)
    assert shapes.output_shape(Layer("pool", "pool", ("data",), said), ((1, size, size),)) == (1, expected, expected)
