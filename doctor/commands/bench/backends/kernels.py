"""CUDA kernels for what CuPy would do in many small ones: `kernels.cu`, compiled by CuPy through NVRTC when first used.

They are launched through a `Launch`, so that the same classes work on any device that has functions of those names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from doctor.commands.bench.backends.im2col import Im2col
from doctor.commands.bench.operations import MaxPooling, Normalisation, Operations, Taps
from doctor.commands.bench.optimisers import Updates, rate_and_decay
from doctor.commands.bench.outcome import Optimiser
from doctor.commands.bench.shapes import Geometry, Shape, Window

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.cu")
_THREADS = 256  # a block

# Name, number of elements, and the other arguments: arrays before and NumPy's scalars after that number.
Launch = Callable[[str, tuple[Any, ...], int, tuple[Any, ...]], None]


class Kernels:
    """The kernels on CuPy's current device: a `Launch`."""

    def __init__(self, cupy: Any) -> None:
        """Compiles nothing yet."""
        with open(SOURCE, encoding="utf-8") as stream:
            self._module = cupy.RawModule(code=stream.read())
        self._functions: dict[str, Any] = {}

    def __call__(self, name: str, arrays: tuple[Any, ...], total: int, scalars: tuple[Any, ...]) -> None:
        """One thread an element, on the current stream."""
        import numpy as np

        if name not in self._functions:
            self._functions[name] = self._module.get_function(name)
        blocks = -(-total // _THREADS)
        self._functions[name]((blocks,), (_THREADS,), (*arrays, np.int64(total), *scalars))


class KernelOperations(Operations):
    """The kernels where there is one, plain calls elsewhere."""

    def __init__(self, xp: Any, launch: Launch) -> None:
        """`xp`: CuPy."""
        super().__init__(xp)
        self.launch = launch

    def pooling(self, method: str, shape: Shape, size: Window) -> Taps:
        """The greatest values by kernel."""
        if method == "max":
            return KernelMaxPooling(self.xp, shape, size, self.launch)
        return super().pooling(method, shape, size)

    def normalisation(self, said: Mapping[str, Any]) -> Normalisation:
        """By kernel."""
        return KernelNormalisation(self.xp, said, self.launch)

    def relu_gradient(self, y: Any, dy: Any) -> Any:
        """By kernel, in place."""
        dy = self.xp.ascontiguousarray(dy)
        self.launch("relu_gradient", (y, dy), dy.size, ())
        return dy

    def updates(self, optimiser: Optimiser) -> Updates:
        """By kernel where there is one of that name."""
        if optimiser.kind in UPDATES:
            return UPDATES[optimiser.kind](optimiser, self.xp, self.launch)
        return super().updates(optimiser)


class KernelIm2col(Im2col):
    """Columns by kernel: no padded copy, no strided view."""

    def __init__(self, xp: Any, geometry: Geometry, columns_bytes: int, launch: Launch) -> None:
        """As `Im2col`."""
        super().__init__(xp, geometry, columns_bytes)
        self._launch = launch

    def _like(self, geometry: Geometry) -> Im2col:
        return KernelIm2col(self._xp, geometry, self._limit, self._launch)

    def _columns(self, x: Any) -> Any:
        shape = self._geometry
        _, height, width = shape.output
        x = self._xp.ascontiguousarray(x)
        found = self._xp.empty((shape.groups, shape.weights[1] * shape.kernel**2, len(x) * height * width), x.dtype)
        sizes = len(x), shape.channels, shape.height, shape.width, height, width
        self._launch("im2col", (x, found), found.size, _ints(*sizes, shape.kernel, shape.stride, shape.padding))
        return found


class KernelMaxPooling(MaxPooling):
    """The greatest value of every window, the first of equal ones."""

    def __init__(self, xp: Any, shape: Shape, size: Window, launch: Launch) -> None:
        """As `MaxPooling`."""
        super().__init__(xp, shape, size)
        self._launch = launch
        self._shape = shape
        self._sizes = _ints(*shape[1:], size.height, size.width, size.kernel, size.stride, size.padding)

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values, and at which place of its window each stood."""
        x = self.xp.ascontiguousarray(x)
        y = self.xp.empty((*x.shape[:2], self.size.height, self.size.width), x.dtype)
        place = self.xp.empty(y.shape, "uint8")
        self._launch("max_pool", (x, y, place), y.size, self._sizes)
        return y, place

    def backward(self, dy: Any, kept: Any) -> Any:
        """Each to where it came from."""
        dy = self.xp.ascontiguousarray(dy)
        dx = self.xp.empty((len(dy), *self._shape), dy.dtype)
        self._launch("max_pool_gradient", (dy, kept, dx), dx.size, self._sizes)
        return dx


class KernelNormalisation(Normalisation):
    """Across channels."""

    def __init__(self, xp: Any, said: Mapping[str, Any], launch: Launch) -> None:
        """As `Normalisation`."""
        super().__init__(xp, said)
        self._launch = launch

    def forward(self, x: Any) -> tuple[Any, Any]:
        """The values, and what is needed on the way back."""
        x = self.xp.ascontiguousarray(x)
        y, scale = self.xp.empty_like(x), self.xp.empty_like(x)
        self._launch("lrn", (x, y, scale), x.size, (*self._sizes(x), *_floats(self.share, self.beta, self.k)))
        return y, (x, scale)

    def backward(self, dy: Any, kept: Any) -> Any:
        """The gradient of what went in."""
        x, scale = kept
        dy, dx = self.xp.ascontiguousarray(dy), self.xp.empty_like(x)
        scalars = (*self._sizes(x), *_floats(self.share, self.beta))
        self._launch("lrn_gradient", (x, dy, scale, dx), x.size, scalars)
        return dx

    def _sizes(self, x: Any) -> tuple[Any, ...]:
        import numpy as np

        _, channels, height, width = x.shape
        return np.int32(channels), np.int64(height * width), np.int32(self.reach)


class KernelUpdates(Updates):
    """One kernel an array of weights."""

    def __init__(self, optimiser: Optimiser, xp: Any, launch: Launch) -> None:
        """As `Updates`."""
        super().__init__(optimiser, xp)
        self._launch = launch

    def change(self, weights: Any, gradient: Any, memory: list[Any], is_bias: bool) -> None:
        """One array's change."""
        arrays = (weights, self.xp.ascontiguousarray(gradient), *memory)
        kind = type(self).__name__.removeprefix("Kernel").lower()
        self._launch(kind, arrays, weights.size, _floats(*self.numbers(is_bias)))

    def numbers(self, is_bias: bool) -> tuple[float, ...]:
        """The kernel's, in its order."""
        return self.said["rate"], self.said["decay"], self.said["epsilon"]


class KernelSgd(KernelUpdates):
    """Momentum and weight decay."""

    memories = 1

    def numbers(self, is_bias: bool) -> tuple[float, ...]:
        """Rate, momentum, decay."""
        rate, decay = rate_and_decay(self.said, is_bias)
        return rate, self.said.get("momentum", 0.0), decay


class KernelRmsProp(KernelUpdates):
    """By the running mean of squares."""

    memories = 1


class KernelAdadelta(KernelUpdates):
    """By running means of squares of gradients and of changes."""

    memories = 2


UPDATES: dict[str, type[KernelUpdates]] = {"sgd": KernelSgd, "rmsprop": KernelRmsProp, "adadelta": KernelAdadelta}


def _ints(*numbers: int) -> tuple[Any, ...]:
    import numpy as np  # late: only the child that measures has any use for it

    return tuple(map(np.int32, numbers))


def _floats(*numbers: float) -> tuple[Any, ...]:
    import numpy as np

    return tuple(map(np.float32, numbers))
