"""Small networks for tests: made up, with every kind of layer between them."""

from __future__ import annotations

from typing import Any

from doctor.commands.bench.networks import SETTINGS
from doctor.commands.bench.outcome import Layer, Network, Optimiser
from doctor.commands.bench.shapes import Geometry

SGD = Optimiser("sgd", {"rate": 0.05, "momentum": 0.9, "weight_decay": 0.001, "bias_rate": 2.0, "bias_decay": 0.0})


GEOMETRIES = [
    Geometry(3, 8, 7, 4, 3, 1, 1, 1),
    Geometry(3, 8, 7, 4, 3, 1, 0, 1),
    Geometry(2, 6, 6, 5, 1, 1, 0, 1),
    Geometry(4, 9, 9, 6, 5, 1, 2, 2),
    Geometry(4, 9, 9, 6, 5, 1, 4, 2),
    Geometry(3, 23, 23, 8, 11, 4, 0, 1),
    Geometry(3, 14, 14, 4, 7, 2, 3, 1),
    Geometry(4, 8, 9, 4, 2, 3, 1, 4),
    Geometry(2, 5, 5, 4, 3, 1, 3, 1),  # more padding than the mirrored convolution can have
]


def layer(name: str, kind: str, *inputs: str, **said: Any) -> Layer:
    return Layer(name, kind, inputs, {**SETTINGS[kind][1], **said})


def network(*layers: Layer, shape: tuple[int, int, int] = (2, 9, 8), classes: int = 3) -> Network:
    return Network(
        name="small",
        title="small",
        source="",
        read_on="",
        confidence="derived",
        note="",
        shape=shape,
        classes=classes,
        batch=8,
        images_per_epoch=80,
        optimiser=SGD,
        parameters=0,
        parameters_source="",
        layers=layers,
    )


def branched() -> Network:
    """Two branches, groups, a shared input, normalisation, both ways to pool, two heads."""
    return network(
        layer("conv1", "conv", "data", filters=4, kernel=3, padding=1, stride=2, bias=0.1),
        layer("relu1", "relu", "conv1"),
        layer("norm1", "lrn", "relu1", size=3, alpha=0.5, beta=0.75),
        layer("pool1", "pool", "norm1", method="max", kernel=3, stride=2, rounding="ceil"),
        layer("left", "conv", "pool1", filters=4, kernel=3, padding=1, groups=2),
        layer("left/relu", "relu", "left"),
        layer("right", "pool", "pool1", method="average", kernel=3, padding=1),
        layer("both", "concat", "left/relu", "right"),
        layer("aside", "flatten", "right"),
        layer("aside/fc", "dense", "aside", units=3),
        layer("aside/loss", "softmax-loss", "aside/fc", weight=0.3),
        layer("flat", "flatten", "both"),
        layer("fc1", "dense", "flat", units=7),
        layer("fc1/relu", "relu", "fc1"),
        layer("fc2", "dense", "fc1/relu", units=3),
        layer("loss", "softmax-loss", "fc2"),
    )


def straight() -> Network:
    """One convolution, one head, two classes."""
    return network(
        layer("conv1", "conv", "data", filters=3, kernel=3),
        layer("relu1", "relu", "conv1"),
        layer("drop1", "dropout", "relu1", rate=0.25),
        layer("flat", "flatten", "drop1"),
        layer("fc1", "dense", "flat", units=1),
        layer("loss", "sigmoid-loss", "fc1"),
        classes=2,
    )
