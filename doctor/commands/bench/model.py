"""A network that can be trained: its layers in order, forwards and backwards."""

from __future__ import annotations

from typing import Any

from doctor.commands.bench import shapes
from doctor.commands.bench.backends import Backend
from doctor.commands.bench.layers import KINDS, Computed, Loss
from doctor.commands.bench.networks import DATA
from doctor.commands.bench.outcome import Layer, Network
from doctor.commands.bench.start import Start

# What these give is new, and they do not need it themselves on the way back.
_FRESH = ("conv", "dense")


class Model:
    """One network on one backend."""

    def __init__(self, network: Network, backend: Backend, batch: int, start: Start | None = None) -> None:
        """`batch`: images a step, at most; `start`: where its first weights come from."""
        start = start or Start()
        known = shapes.shapes(network)
        self._layers = {
            layer.name: KINDS[layer.kind](layer, tuple(known[name] for name in layer.inputs), backend, batch, start)
            for layer in network.layers
        }
        self._losses = [one for one in self._layers.values() if isinstance(one, Loss)]
        self._optimiser = backend.operations.updates(network.optimiser)
        self._mark(network.layers)

    def _mark(self, layers: tuple[Layer, ...]) -> None:
        users = self._users()
        kinds = {layer.name: layer.kind for layer in layers}
        for layer in layers:
            first = layer.inputs[0]
            self._layers[layer.name].is_first = first == DATA
            self._layers[layer.name].may_overwrite = users[first] == 1 and kinds.get(first) in _FRESH

    @property
    def layers(self) -> tuple[Computed, ...]:
        """In the order of the way forward."""
        return tuple(self._layers.values())

    def train(self, images: Any, labels: Any) -> None:
        """One step: forwards, backwards, new weights. Images are N,C,H,W of the weights' type."""
        self.forward(images, labels)
        self.backward()
        found = [
            (weights, gradient, place == 1)
            for layer in self._layers.values()
            for place, (weights, gradient) in enumerate(zip(layer.weights, layer.gradients, strict=True))
        ]
        self._optimiser.apply([(number, *one) for number, one in enumerate(found)])

    def forward(self, images: Any, labels: Any) -> dict[str, Any]:
        """What every layer gives that is still needed when all is computed: the losses' probabilities."""
        for loss in self._losses:
            loss.labels = labels
        waiting = self._users()
        given = {DATA: images}
        for name, layer in self._layers.items():
            inputs = [given[one] for one in layer.layer.inputs]
            given[name] = layer.forward(*inputs)
            for one in layer.layer.inputs:
                waiting[one] -= 1
                if not waiting[one]:
                    del given[one]
        return given

    def _users(self) -> dict[str, int]:
        users: dict[str, int] = {}
        for layer in self._layers.values():
            for name in layer.layer.inputs:
                users[name] = users.get(name, 0) + 1
        return users

    def backward(self) -> None:
        """The gradients of all weights, into their layers."""
        wanted: dict[str, Any] = {}
        for name, layer in reversed(self._layers.items()):
            found = layer.backward(wanted.pop(name, None))
            for one, gradient in zip(layer.layer.inputs, found, strict=False):  # the first layer gives none
                wanted[one] = wanted[one] + gradient if one in wanted else gradient

    def loss(self) -> float:
        """Of the last step, all heads together; waits for a GPU."""
        return float(sum(float(one.value) for one in self._losses))
