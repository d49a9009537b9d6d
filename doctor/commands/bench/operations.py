"""What networks do besides convolutions, in NumPy's interface: pooling, normalisation, the way back of ReLU, updates.

A backend may bring its own of these (`kernels`), which both paths on a GPU share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.commands.bench.optimisers import KINDS, Updates
from doctor.commands.bench.outcome import Optimiser
from doctor.commands.bench.shapes import Shape, Window


class Operations:
    """By plain calls of the array module."""

    def __init__(self, xp: Any) -> None:
        """`xp`: NumPy or CuPy."""
        self.xp = xp

    def pooling(self, method: str, shape: Shape, size: Window) -> Taps:
        """For images of this shape; `method`: "max" or "average"."""
        return (MaxPooling if method == "max" else AveragePooling)(self.xp, shape, size)

    def normalisation(self, said: Mapping[str, Any]) -> Normalisation:
        """Across channels, with the layer's numbers."""
        return Normalisation(self.xp, said)

    def relu_gradient(self, y: Any, dy: Any) -> Any:
        """What was cut off learns nothing; in place."""
        dy *= y > 0
        return dy

    def updates(self, optimiser: Optimiser) -> Updates:
        """The row's optimiser."""
        return KINDS[optimiser.kind](optimiser, self.xp)


class Taps:
    """Windows as one strided view for every place in them: no loop goes over images or pixels."""

    def __init__(self, xp: Any, shape: Shape, size: Window) -> None:
        """`shape`: of one image."""
        self.xp = xp
        self.size = size
        _, self._height, self._width = shape
        edge = size.padding
        self._rows = max((size.height - 1) * size.stride + size.kernel, self._height + edge)
        self._columns = max((size.width - 1) * size.stride + size.kernel, self._width + edge)

    def padded(self, x: Any, value: float) -> Any:
        """The images with the edge that the windows reach over."""
        if (self._rows, self._columns) == (self._height, self._width):
            return x
        found = self.xp.full((*x.shape[:2], self._rows, self._columns), value, x.dtype)
        found[self._inside()] = x
        return found

    def zeros(self, like: Any) -> Any:
        """An empty gradient of padded images."""
        return self.xp.zeros((*like.shape[:2], self._rows, self._columns), like.dtype)

    def cut(self, padded: Any) -> Any:
        """The images without that edge."""
        if padded.shape[2:] == (self._height, self._width):
            return padded
        return self.xp.ascontiguousarray(padded[self._inside()])

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values, and what is needed on the way back."""
        raise NotImplementedError

    def backward(self, dy: Any, kept: Any) -> Any:
        """The gradient of what went in."""
        raise NotImplementedError

    def views(self, padded: Any) -> list[Any]:
        """For every place in the window, the values that stand there."""
        size = self.size
        return [
            padded[
                ...,
                row : row + (size.height - 1) * size.stride + 1 : size.stride,
                column : column + (size.width - 1) * size.stride + 1 : size.stride,
            ]
            for row in range(size.kernel)
            for column in range(size.kernel)
        ]

    def _inside(self) -> tuple[Any, ...]:
        edge = self.size.padding
        return ..., slice(edge, edge + self._height), slice(edge, edge + self._width)


class MaxPooling(Taps):
    """The greatest value of every window, the first of equal ones."""

    def __init__(self, xp: Any, shape: Shape, size: Window) -> None:
        """`shape`: of one image."""
        super().__init__(xp, shape, size)
        self._numbers = xp.arange(size.kernel**2, dtype="uint8")

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values, and at which place of its window each stood."""
        first, *others = self.views(self.padded(x, -self.xp.inf))
        best = first.copy()
        place = self.xp.zeros(best.shape, "uint8")
        for number, values in enumerate(others, 1):
            # Numbers rise, so that the last place to be greater has the greatest: three plain passes, no masked copy.
            self.xp.maximum(place, (values > best).astype("uint8") * self._numbers[number], out=place)
            self.xp.maximum(best, values, out=best)
        return best, place

    def backward(self, dy: Any, kept: Any) -> Any:
        """Each to where it came from."""
        padded = self.zeros(dy)
        for number, values in enumerate(self.views(padded)):
            values[...] += dy * (kept == number)
        return self.cut(padded)


class AveragePooling(Taps):
    """The mean of every window; padding counts as zeros, what lies beyond it does not count (as in Caffe)."""

    _made: Any = None

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values; nothing needs to be kept."""
        total = sum(self.views(self.padded(x, 0.0)))
        return total * self._shares(x.dtype), ()

    def backward(self, dy: Any, kept: Any) -> Any:
        """To everyone alike."""
        padded = self.zeros(dy)
        dy = dy * self._shares(dy.dtype)
        for values in self.views(padded):
            values[...] += dy
        return self.cut(padded)

    def _shares(self, dtype: Any) -> Any:
        if self._made is None or self._made.dtype != dtype:
            heights, widths = (
                self.xp.asarray(self._lengths(windows, size), dtype)
                for windows, size in ((self.size.height, self._height), (self.size.width, self._width))
            )
            self._made = 1 / (heights[:, None] * widths)
        return self._made

    def _lengths(self, windows: int, size: int) -> list[int]:
        """How far the windows reach along one dimension: the last may be cut off by the padding's end."""
        stride, end = self.size.stride, size + 2 * self.size.padding
        return [min(place * stride + self.size.kernel, end) - place * stride for place in range(windows)]


class Normalisation:
    """Local response normalisation: x / (k + alpha / size * sum of the neighbours' squares) ** beta.

    Source: Caffe, lrn_layer.cpp, which divides alpha by the size as here.
    """

    def __init__(self, xp: Any, said: Mapping[str, Any]) -> None:
        """`said`: the layer's numbers."""
        self.xp = xp
        self.beta = said["beta"]
        self.k = said["k"]
        self.reach = said["size"] // 2
        self.share = said["alpha"] / said["size"]

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values, and what is needed on the way back."""
        scale = self._neighbours(x * x)
        scale *= self.share
        scale += self.k
        return x * self._power(scale), (x, scale)

    def backward(self, dy: Any, kept: Any) -> Any:
        """The gradient of what went in."""
        x, scale = kept
        dx = dy * self._power(scale)
        others = self._neighbours(dx * x / scale)
        others *= x
        others *= 2 * self.share * self.beta
        dx -= others
        return dx

    def _power(self, scale: Any) -> Any:
        """Scale to the power of -beta; 0.75, which all of these networks have, by square roots: pow is slow."""
        if self.beta != 0.75:
            return scale**-self.beta
        root = 1 / self.xp.sqrt(scale)
        return root * self.xp.sqrt(root)

    def _neighbours(self, values: Any) -> Any:
        """Sums over the channels around each."""
        total = values.copy()
        for far in range(1, self.reach + 1):
            total[:, far:] += values[:, :-far]
            total[:, :-far] += values[:, far:]
        return total
