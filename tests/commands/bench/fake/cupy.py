"""What the benchmark uses of CuPy, where there is no GPU: arrays as strict as its own, events, and the real kernels.

`FAKE_CUPY_KERNELS` is the library that `host_kernels.build` made; `FAKE_CUPY_LOG` a file for what was asked for.
"""

from __future__ import annotations

import ctypes
import os
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.commands.bench.host_kernels import HostLaunch
from tests.commands.bench.strict import Device, StrictModule

__version__ = "14.2.0"
_STRICT = StrictModule()
inf = _STRICT.inf
lib = _STRICT.lib


def _asked(what: str) -> None:
    with open(os.environ["FAKE_CUPY_LOG"], "a", encoding="utf-8") as stream:
        stream.write(what + "\n")


class Array(Device):
    """Named by an address, as on a GPU."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(_STRICT, name)

    def call(*inputs: Any, **more: Any) -> Any:
        found = function(*inputs, **more)
        return found.view(Array) if isinstance(found, Device) else found

    return function if name == "finfo" else call


class Event:
    """A moment on the clock on the wall."""

    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        _asked("waited")


class RawModule:
    """The kernels on the host."""

    def __init__(self, code: str) -> None:
        self._launch = HostLaunch(ctypes.CDLL(os.environ["FAKE_CUPY_KERNELS"]))

    def get_function(self, name: str) -> Any:
        _asked(f"kernel {name}")

        def launched(blocks: tuple[int], threads: tuple[int], arguments: tuple[Any, ...]) -> None:
            arrays = tuple(one.view(np.ndarray) for one in arguments if isinstance(one, np.ndarray))
            total, *scalars = arguments[len(arrays) :]
            assert (blocks[0] - 1) * threads[0] < total <= blocks[0] * threads[0]
            self._launch(name, arrays, int(total), tuple(scalars))

        return launched


class _Device:
    pci_bus_id = "0000:01:00.0"

    def __init__(self, number: int = 0) -> None:
        self.id = number

    def use(self) -> None:
        _asked(f"GPU {self.id}")


def _properties(number: int) -> dict[str, Any]:
    return {"name": b"Imagined GPU", "major": 9, "minor": 0}


def _elapsed_ms(start: Event, end: Event) -> float:
    return 1e3 * (end.at - start.at)


def _set_allocator(allocator: Any) -> None:
    _asked(f"allocator {allocator}")


def get_default_memory_pool() -> Any:
    return SimpleNamespace(total_bytes=lambda: 123 << 20)


cuda = SimpleNamespace(
    Device=_Device,
    Event=Event,
    get_elapsed_time=_elapsed_ms,
    get_current_stream=lambda: SimpleNamespace(ptr=0),
    set_allocator=_set_allocator,
    runtime=SimpleNamespace(getDeviceProperties=_properties, runtimeGetVersion=lambda: 13000),
)
