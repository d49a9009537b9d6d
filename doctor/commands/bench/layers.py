"""The layers: forwards, and the gradients backwards. Written for NumPy's interface, which CuPy has too.

Arrays are N,C,H,W (N,units after `flatten`). A layer keeps from its way forward what its way back needs, and lets go
of it there. `backward` may write over the gradient that it is given: nobody else holds it.
"""

from __future__ import annotations

from typing import Any

from doctor.commands.bench.backends import Backend
from doctor.commands.bench.outcome import Layer
from doctor.commands.bench.shapes import Shape, geometry, weight_shapes, window
from doctor.commands.bench.start import Start


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
        by_image = dy.reshape(*dy.shape[:2], -1).sum(2)  # whole planes first: they are contiguous
        self.gradients = [self._convolver.backward_filter(self._take(), dy), by_image.sum(0)]
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

    def _prepare(self, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        self._gradient = backend.operations.relu_gradient

    def forward(self, *inputs: Any) -> Any:
        """In place where nobody minds."""
        (x,) = inputs
        y = self.xp.maximum(x, 0, out=x) if self.may_overwrite else self.xp.maximum(x, 0)
        self._kept = y
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """What was cut off learns nothing."""
        return (self._gradient(self._take(), dy),)


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
        found = window(self.layer, shapes[0])
        self._pooling = backend.operations.pooling(self.said["method"], shapes[0], found)

    def forward(self, *inputs: Any) -> Any:
        """Down to one value a window."""
        y, self._kept = self._pooling.forward(inputs[0])
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Back to where the values came from."""
        return (self._pooling.backward(dy, self._take()),)


class Lrn(Computed):
    """Local response normalisation across channels."""

    def _prepare(self, shapes: tuple[Shape, ...], backend: Backend, batch: int, start: Start) -> None:
        self._normalisation = backend.operations.normalisation(self.said)

    def forward(self, *inputs: Any) -> Any:
        """Against its neighbours."""
        y, self._kept = self._normalisation.forward(inputs[0])
        return y

    def backward(self, dy: Any) -> tuple[Any, ...]:
        """Its own share, less what it did to its neighbours."""
        return (self._normalisation.backward(dy, self._take()),)


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
