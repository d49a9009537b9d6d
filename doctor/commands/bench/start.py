"""What is random in training, made by NumPy from one seed: every path starts from the same weights and masks."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt
from typing import Any

from doctor.commands.bench.outcome import Layer
from doctor.commands.bench.shapes import Shape


class Start:
    """One seed's numbers."""

    def __init__(self, seed: int = 1, dtype: str = "float32") -> None:
        """`dtype`: of weights and masks."""
        import numpy as np  # late: only the child that measures has any use for it

        self._random = np.random.default_rng(seed)
        self._np = np
        self.dtype = dtype

    def weights(self, layer: Layer, shapes: tuple[Shape, ...]) -> Iterator[Any]:
        """The first weights and biases of a layer, none for a layer that learns nothing."""
        if shapes:
            weights, biases = shapes
            yield self._filled(layer, weights)
            yield self._np.full(biases, layer.settings["bias"], self.dtype)

    def _filled(self, layer: Layer, shape: Shape) -> Any:
        if layer.settings["init"] == "gaussian":
            return self._random.standard_normal(shape, "float32").astype(self.dtype) * layer.settings["std"]
        far = limit(layer.settings["init"], shape)
        return ((2 * self._random.random(shape, "float32") - 1) * far).astype(self.dtype)

    def mask(self, size: int, rate: float) -> Any:
        """A block of zeros (this share of them) and grown ones."""
        return (self._random.random(size, "float32") >= rate).astype(self.dtype) * (1 / (1 - rate))

    def place(self, places: int) -> int:
        """One of that many places."""
        return int(self._random.integers(places))


def limit(init: str, shape: Shape) -> float:
    """How far from zero uniform first weights may lie; raises ValueError for a name that nobody gave.

    Sources: Keras 1.2.2, initializations.py (glorot_uniform); Caffe, filler.hpp (xavier); PyTorch, Linear and _ConvNd.
    """
    ins, outs = prod(shape[1:]), shape[0] * prod(shape[2:])
    if init == "glorot":
        return sqrt(6 / (ins + outs))
    if init == "xavier":
        return sqrt(3 / ins)
    if init == "torch":
        return sqrt(1 / ins)
    raise ValueError(f"no way to fill weights is called {init!r}")
