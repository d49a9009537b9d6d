"""The layers: forwards, and the gradients backwards. Written for NumPy's interface, which CuPy has too.

Arrays are N,C,H,W (N,units after `flatten`). A layer keeps from its way forward what its way back needs, and lets go
of it there. `backward` may write over the gradient that it is given: nobody else holds it.
"""

from __future__ import annotations

from typing import Any

from doctor.bench.backends import Backend
from doctor.bench.outcome import Layer
from doctor.bench.shapes import Shape, Window, geometry, weight_shapes, window
from doctor.bench.start import Start


class Computed:
    """A layer that can be computed; this one learns nothing."""

    is_first = False  # it gets the images themselves, of which nobody wants a gradient
    may_overwrite = False  # its input is nobody else's, and is not needed on the way back

    def __init__(self, layer: Layer, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        """`shapes`: of one image of each input; `batch`: images a step, at most; `start`: gives the first weights."""
        self.layer = layer
        self.said = layer.settings
        self.xp = backend.xp
        self.weights = [self.xp.asarray(one) for one in start.weights(layer, weight_shapes(layer, shapes[0]))]
        self.gradients: list[Any] = []
        self._kept: Any = None
        self._prepare(shapes, backend, batch, start)

    def _prepare(self, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        """What a kind of layer needs besides."""

    def forward(self, *inputs: Any) -> Any:
        """What it makes of its inputs."""
        raise NotImplementedError

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """The gradients of its inputs; those of its weights are in `gradients` then."""
        raise NotImplementedError

    def _take(self) -> Any:
        """What was kept, which is let go of."""
        kept, self._kept = self._kept, None
        return kept


class Conv(Computed):
    """Convolution, with a bias for every filter."""

    def _prepare(self, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        self._convolver = backend.convolver(self.layer.name, geometry(self.layer, shapes[0]), batch)

    def forward(self, *inputs: Any) -> Any:
        """By whom the backend says."""
        (x,) = inputs
        self._kept = x
        y = self._convolver.forward(x, self.weights[0])
        y += self.weights[1][:, None, None]
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """The two other convolutions."""
        self.gradients = [self._convolver.backward_filter(self._take(), dy), dy.sum((0, 2, 3))]
        return () if self.is_first else (self._convolver.backward_data(self.weights[0], dy),)


class Dense(Computed):
    """Every unit with every value."""

    def forward(self, *inputs: Any) -> Any:
        """A product of matrices."""
        (x,) = inputs
        self._kept = x
        y = x @ self.weights[0].T
        y += self.weights[1]
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Two products of matrices."""
        self.gradients = [dy.T @ self._take(), dy.sum(0)]
        return () if self.is_first else (dy @ self.weights[0],)


class Relu(Computed):
    """Nothing below zero."""

    def forward(self, *inputs: Any) -> Any:
        """In place where nobody minds."""
        (x,) = inputs
        y = self.xp.maximum(x, 0, out=x) if self.may_overwrite else self.xp.maximum(x, 0)
        self._kept = y
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """What was cut off learns nothing."""
        dy *= self._take() > 0
        return (dy,)


class Dropout(Computed):
    """A share of the values put to zero, the others grown, so that their mean stays.

    The mask is a new piece of one block of random numbers every step: no path waits for a generator.
    """

    def _prepare(self, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        size = batch
        for length in shapes[0]:
            size *= length
        self._start = start
        self._block = self.xp.asarray(start.mask(2 * size, self.said["rate"]))

    def forward(self, *inputs: Any) -> Any:
        """With this step's mask."""
        (x,) = inputs
        first = self._start.place(self._block.size - x.size + 1)
        self._kept = self._block[first : first + x.size].reshape(x.shape)
        return x * self._kept

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """With the same mask."""
        dy *= self._take()
        return (dy,)


class Flatten(Computed):
    """One row of values an image."""

    def forward(self, *inputs: Any) -> Any:
        """Another look at the same values."""
        (x,) = inputs
        self._kept = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """And back."""
        return (dy.reshape(self._take()),)


class Concat(Computed):
    """The channels of several inputs behind each other."""

    def forward(self, *inputs: Any) -> Any:
        """One array of them all."""
        self._kept = [len(x[0]) for x in inputs]
        return self.xp.concatenate(inputs, axis=1)

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Everyone's own part."""
        parts, first = [], 0
        for channels in self._take():
            parts.append(self.xp.ascontiguousarray(dy[:, first : first + channels]))
            first += channels
        return tuple(parts)


class Pool(Computed):
    """The greatest or the mean value of every window."""

    def _prepare(self, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        method = MaxPooling if self.said["method"] == "max" else AveragePooling
        self._pooling = method(self.xp, shapes[0], window(self.layer, shapes[0]))

    def forward(self, *inputs: Any) -> Any:
        """Down to one value a window."""
        y, self._kept = self._pooling.forward(inputs[0])
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Back to where the values came from."""
        return (self._pooling.backward(dy, self._take()),)


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

    def backward(self, dy: Any, place: Any) -> Any:
        """Each to where it came from."""
        padded = self.zeros(dy)
        for number, values in enumerate(self.views(padded)):
            values[...] += dy * (place == number)
        return self.cut(padded)


class AveragePooling(Taps):
    """The mean of every window; padding counts as zeros, what lies beyond it does not count (as in Caffe)."""

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values; nothing needs to be kept."""
        total = sum(self.views(self.padded(x, 0.0)))
        return total * self._shares(x.dtype), ()

    def backward(self, dy: Any, _: Any) -> Any:
        """To everyone alike."""
        padded = self.zeros(dy)
        dy = dy * self._shares(dy.dtype)
        for values in self.views(padded):
            values[...] += dy
        return self.cut(padded)

    def _shares(self, dtype: Any) -> Any:
        edge = self.size.padding
        ends = self._height + 2 * edge, self._width + 2 * edge
        heights, widths = (
            [
                min(place * self.size.stride + self.size.kernel, end) - place * self.size.stride
                for place in range(length)
            ]
            for length, end in zip((self.size.height, self.size.width), ends, strict=True)
        )
        return 1 / (self.xp.asarray(heights, dtype)[:, None] * self.xp.asarray(widths, dtype))


class Lrn(Computed):
    """Local response normalisation across channels: x / (k + alpha / size * sum of neighbours' squares) ** beta.

    Source: Caffe, lrn_layer.cpp, which divides alpha by the size as here.
    """

    def forward(self, *inputs: Any) -> Any:
        """Against its neighbours."""
        (x,) = inputs
        scale = self._neighbours(x * x)
        scale *= self.said["alpha"] / self.said["size"]
        scale += self.said["k"]
        self._kept = x, scale
        return x * self._power(scale)

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Its own share, less what it did to its neighbours."""
        x, scale = self._take()
        power = self._power(scale)
        dx = dy * power
        others = self._neighbours(dx * x / scale)
        others *= x
        others *= 2 * self.said["alpha"] * self.said["beta"] / self.said["size"]
        dx -= others
        return (dx,)

    def _power(self, scale: Any) -> Any:
        """Scale to the power of -beta; 0.75, which all of these networks have, by square roots: pow is slow."""
        if self.said["beta"] != 0.75:
            return scale ** -self.said["beta"]
        root = 1 / self.xp.sqrt(scale)
        return root * self.xp.sqrt(root)

    def _neighbours(self, values: Any) -> Any:
        """Sums over the channels around each."""
        total = values.copy()
        for far in range(1, self.said["size"] // 2 + 1):
            total[:, far:] += values[:, :-far]
            total[:, :-far] += values[:, far:]
        return total


class Loss(Computed):
    """The end of a head: `labels` must be set before the step; `value` is its share of the loss, on the device."""

    labels: Any = None
    value: Any = None


class SoftmaxLoss(Loss):
    """Cross-entropy of the softmax of scores, mean over the batch."""

    def forward(self, *inputs: Any) -> Any:
        """Probabilities."""
        (scores,) = inputs
        shares = self.xp.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        self._kept = shares
        right = shares[self.xp.arange(len(shares)), self.labels]
        smallest = self.xp.finfo(shares.dtype).tiny
        self.value = self.said["weight"] * -self.xp.log(self.xp.maximum(right, smallest)).mean()
        return shares

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Probability, less one for the right one."""
        shares = self._take()
        shares[self.xp.arange(len(shares)), self.labels] -= 1
        shares *= self.said["weight"] / len(shares)
        return (shares,)


class SigmoidLoss(Loss):
    """Cross-entropy of one sigmoid, for two classes, mean over the batch."""

    def forward(self, *inputs: Any) -> Any:
        """Probabilities of the second class."""
        (scores,) = inputs
        wanted = self.labels[:, None].astype(scores.dtype)
        small = self.xp.exp(-self.xp.abs(scores))
        losses = self.xp.maximum(scores, 0) - scores * wanted + self.xp.log1p(small)
        self.value = self.said["weight"] * losses.mean()
        share = self.xp.where(scores >= 0, 1 / (1 + small), small / (1 + small))
        self._kept = share - wanted
        return share

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Probability, less the label."""
        far = self._take()
        return (far * (self.said["weight"] / len(far)),)


KINDS: dict[str, type[Computed]] = {
    "conv": Conv,
    "dense": Dense,
    "pool": Pool,
    "lrn": Lrn,
    "relu": Relu,
    "dropout": Dropout,
    "flatten": Flatten,
    "concat": Concat,
    "softmax-loss": SoftmaxLoss,
    "sigmoid-loss": SigmoidLoss,
}
