"""Shapes and numbers of weights, as plain arithmetic: known before anything is computed."""

from __future__ import annotations

from math import prod

from compat.base.record import NamedTuple
from doctor.commands.bench.networks import DATA
from doctor.commands.bench.outcome import Layer, Network

Shape = tuple[int, ...]  # of one image: without the batch


class Geometry(NamedTuple):
    """A convolution with square kernels, as its backends are asked for it."""

    channels: int
    height: int
    width: int
    filters: int
    kernel: int
    stride: int
    padding: int
    groups: int

    @property
    def output(self) -> tuple[int, int, int]:
        """Filters, height, width."""
        return self.filters, self._along(self.height), self._along(self.width)

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """Shape of the filters."""
        return self.filters, self.channels // self.groups, self.kernel, self.kernel

    def _along(self, size: int) -> int:
        return (size + 2 * self.padding - self.kernel) // self.stride + 1


class Window(NamedTuple):
    """A pooling window, and the sizes that it gives."""

    kernel: int
    stride: int
    padding: int
    height: int  # of the output
    width: int


def geometry(layer: Layer, shape: Shape) -> Geometry:
    """The convolution that this layer is, on inputs of that shape; raises ValueError where it does not fit."""
    channels, height, width = shape
    said = layer.settings
    found = Geometry(
        channels=channels,
        height=height,
        width=width,
        filters=said["filters"],
        kernel=said["kernel"],
        stride=said["stride"],
        padding=said["padding"],
        groups=said["groups"],
    )
    if channels % found.groups or found.filters % found.groups or min(found.output) < 1:
        raise ValueError(f"{layer.name}: {shape} is no input for {dict(said)}")
    return found


def window(layer: Layer, shape: Shape) -> Window:
    """The pooling window of this layer on inputs of that shape."""
    _, height, width = shape
    said = layer.settings
    kernel, stride, padding = said["kernel"], said["stride"], said["padding"]
    sizes = [_pooled(size, kernel, stride, padding, said["rounding"] == "ceil") for size in (height, width)]
    return Window(kernel, stride, padding, *sizes)


def _pooled(size: int, kernel: int, stride: int, padding: int, is_ceil: bool) -> int:
    """One dimension of the output.

    Source: Caffe, pooling_layer.cpp: with ceil and padding, a last window that would start in the padding is dropped.
    """
    reach = size + 2 * padding - kernel
    found = (-(-reach // stride) if is_ceil else reach // stride) + 1
    if is_ceil and padding and (found - 1) * stride >= size + padding:
        found -= 1
    return found


def output_shape(layer: Layer, inputs: tuple[Shape, ...]) -> Shape:
    """What this layer makes of inputs of those shapes."""
    first = inputs[0]
    if layer.kind == "conv":
        return geometry(layer, first).output
    if layer.kind == "pool":
        found = window(layer, first)
        return first[0], found.height, found.width
    if layer.kind == "dense":
        return (layer.settings["units"],)
    if layer.kind == "flatten":
        return (prod(first),)
    if layer.kind == "concat":
        return (sum(shape[0] for shape in inputs), *first[1:])
    return first  # a loss keeps the shape of its scores: what comes out of it is no layer's input


def shapes(network: Network) -> dict[str, Shape]:
    """The shape of what every layer gives, by its name; "data" among them."""
    found: dict[str, Shape] = {DATA: tuple(network.shape)}
    for layer in network.layers:
        found[layer.name] = output_shape(layer, tuple(found[name] for name in layer.inputs))
    return found


def weight_shapes(layer: Layer, shape: Shape) -> tuple[Shape, ...]:
    """Shapes of weights and biases of a layer on inputs of that shape; empty where it learns nothing."""
    if layer.kind == "conv":
        found = geometry(layer, shape)
        return found.weights, (found.filters,)
    if layer.kind == "dense":
        return (layer.settings["units"], prod(shape)), (layer.settings["units"],)
    return ()


def parameters(network: Network) -> int:
    """How many weights and biases the network has in all."""
    known = shapes(network)
    return sum(prod(shape) for layer in network.layers for shape in weight_shapes(layer, known[layer.inputs[0]]))
