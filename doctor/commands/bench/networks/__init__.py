"""The networks that can be trained: one sourced row a file, read strictly.

A row says where its layers were read, and how many weights they must come to: `parameters` is a published number, and
a test counts them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from compat.base.errors import DataError
from doctor.commands.bench.outcome import Layer, Network, Optimiser

FOLDER = os.path.dirname(os.path.abspath(__file__))
SCHEMA = "gpudoctor.network/1"
CONFIDENCES = ("official", "secondary", "derived")
DATA = "data"  # the name of what goes in

# What a layer of each kind must say, and what it may: the second with the value that stands for silence.
_START = {"init": "glorot", "std": 0.01, "bias": 0.0}
SETTINGS: dict[str, tuple[tuple[str, ...], Mapping[str, Any]]] = {
    "conv": (("filters", "kernel"), {"stride": 1, "padding": 0, "groups": 1, **_START}),
    "dense": (("units",), _START),
    "pool": (("method", "kernel"), {"stride": 1, "padding": 0, "rounding": "floor"}),
    "lrn": (("size", "alpha", "beta"), {"k": 1.0}),
    "relu": ((), {}),
    "dropout": (("rate",), {}),
    "flatten": ((), {}),
    "concat": ((), {}),
    "softmax-loss": ((), {"weight": 1.0}),
    "sigmoid-loss": ((), {"weight": 1.0}),
}
LOSSES = ("softmax-loss", "sigmoid-loss")


def names() -> tuple[str, ...]:
    """The networks there are, sorted; raises DataError where there is none."""
    found = sorted(name.removesuffix(".json") for name in os.listdir(FOLDER) if name.endswith(".json"))
    if not found:
        raise DataError(f"{FOLDER} holds no networks")
    return tuple(found)


def load(name: str) -> Network:
    """One network; raises DataError for a file that is missing or says something that no layer understands."""
    path = os.path.join(FOLDER, f"{name}.json")
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
        return parse(content, name)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: {type(error).__name__}: {error}") from error


def content_of(network: Network) -> dict[str, Any]:
    """The row that `parse` reads as this network."""
    content = network._asdict()
    content["optimiser"] = {"kind": network.optimiser.kind, **network.optimiser.settings}
    content["layers"] = [
        {"name": one.name, "kind": one.kind, "inputs": list(one.inputs), **one.settings} for one in network.layers
    ]
    return {"schema": SCHEMA, **content, "shape": list(network.shape)}


def parse(content: dict[str, Any], name: str) -> Network:
    """A row as JSON has it, which is used up; raises ValueError, KeyError, TypeError for what is wrong with it."""
    if content.pop("schema") != SCHEMA or content["name"] != name:
        raise ValueError(f"schema or name is not {SCHEMA}, {name}")
    if content["confidence"] not in CONFIDENCES:
        raise ValueError(f"confidence is {content['confidence']!r}")
    optimiser = content.pop("optimiser")
    network = Network(
        shape=tuple(content.pop("shape")),
        optimiser=Optimiser(optimiser.pop("kind"), optimiser),
        layers=tuple(map(_layer, content.pop("layers"))),
        **content,
    )
    _require_order(network.layers)
    return network


def _layer(row: dict[str, Any]) -> Layer:
    name, kind, inputs = row.pop("name"), row.pop("kind"), tuple(row.pop("inputs"))
    required, optional = SETTINGS[kind]
    missing, odd = set(required) - row.keys(), row.keys() - set(required) - optional.keys()
    if missing or odd:
        raise ValueError(f"{name}: missing {sorted(missing)}, unknown {sorted(odd)}")
    return Layer(name, kind, inputs, {**optional, **row})


def _require_order(layers: tuple[Layer, ...]) -> None:
    """Every layer's inputs are named before it, every name once; something is learned from."""
    known = {DATA}
    for layer in layers:
        if not layer.inputs or not known.issuperset(layer.inputs):
            raise ValueError(f"{layer.name}: its inputs {layer.inputs} are not all known before it")
        if layer.name in known:
            raise ValueError(f"{layer.name} stands twice")
        known.add(layer.name)
    if not any(layer.kind in LOSSES for layer in layers):
        raise ValueError("nothing is learned from: no layer is a loss")
