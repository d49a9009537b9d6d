"""An array module as strict as CuPy: its arrays are never mixed with NumPy's, and nothing is a bare number.

For code that must run on a GPU, tried where there is none: what CuPy refuses, this refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.backends.im2col import Im2col
from doctor.commands.bench.operations import Operations
from doctor.commands.bench.shapes import Geometry


class Refused(TypeError):
    """CuPy: Unsupported type <class 'numpy.ndarray'>."""


class Device(np.ndarray):
    """An array that lies elsewhere."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **more: Any) -> Any:
        require_device(inputs, out or (), more)
        if out:
            more["out"] = tuple(bare(one) for one in out)
        return on_device(getattr(ufunc, method)(*map(bare, inputs), **{name: bare(one) for name, one in more.items()}))

    def __array_function__(self, function: Any, types: Any, inputs: Any, more: Any) -> Any:
        require_device(inputs, more)
        return on_device(function(*map(bare, inputs), **{name: bare(one) for name, one in more.items()}))

    def __getitem__(self, place: Any) -> Any:
        require_device(place if isinstance(place, tuple) else (place,))
        return on_device(super().__getitem__(place))

    def __setitem__(self, place: Any, value: Any) -> None:
        require_device(place if isinstance(place, tuple) else (place,), value)
        super().__setitem__(place, value)

    def sum(self, *inputs: Any, **more: Any) -> Any:
        """As CuPy's: never a bare number."""
        return on_device(bare(self).sum(*inputs, **more))

    def mean(self, *inputs: Any, **more: Any) -> Any:
        """As CuPy's: never a bare number."""
        return on_device(bare(self).mean(*inputs, **more))


def bare(value: Any) -> Any:
    if isinstance(value, Device):
        return value.view(np.ndarray)
    return type(value)(map(bare, value)) if type(value) in {tuple, list} else value


def on_device(value: Any) -> Any:
    return np.asarray(value).view(Device) if isinstance(value, (np.ndarray, np.generic)) else value


def require_device(*values: Any) -> None:
    for value in values:
        if isinstance(value, (tuple, list)):
            require_device(*value)
        elif isinstance(value, dict):
            require_device(*value.values())
        elif isinstance(value, np.ndarray) and not isinstance(value, Device):
            raise Refused("an array of NumPy's among the device's")


class _StrideTricks:
    @staticmethod
    def as_strided(x: Any, shape: Any, strides: Any) -> Any:
        require_device((x,))
        return on_device(np.lib.stride_tricks.as_strided(bare(x), shape, strides))


class _Lib:
    stride_tricks = _StrideTricks


class StrictModule:
    """NumPy's functions on such arrays; `used` are their names."""

    lib = _Lib
    inf = np.inf

    def __init__(self) -> None:
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        self.used.add(name)
        if name in {"finfo"}:
            return function

        def call(*inputs: Any, **more: Any) -> Any:
            if name != "asarray":  # which copies there
                require_device(inputs, more)
            return on_device(function(*map(bare, inputs), **{key: bare(one) for key, one in more.items()}))

        return call


class StrictBackend(HostBackend):
    """im2col and plain operations on such arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.xp = StrictModule()
        self.operations = Operations(self.xp)

    def convolver(self, name: str, geometry: Geometry, batch: int) -> Im2col:
        return Im2col(self.xp, geometry, 1 << 16)
