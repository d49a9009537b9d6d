"""TensorRT: the bindings for Python; its libraries are in a distribution of their own, tensorrt-cu12-libs.

Source: tensorrt_bindings/__init__.py of tensorrt-cu12-bindings and tensorrt-cu13-bindings 11.4.0, which imports
`tensorrt_libs` where that is there; tensorrt_dispatch_libs/__init__.py of 11.4.0, which opens every library beside it
and goes on without those that do not open.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.loader.cards import Card, Loading
from doctor.loader.steps import Package, Step

_BINDINGS = "tensorrt_bindings/tensorrt"


def steps(package: Package) -> Iterator[Step]:
    """The libraries of the wheel beside it by their paths, then the module, which names them."""
    for path in package.anywhere("tensorrt_libs/libnvinfer.so.*[0-9]"):
        yield Step((path,), "tensorrt_libs/__init__.py opens what lies beside it", optional=True)
    yield Step(package.files(f"{_BINDINGS}.so") or package.files(f"{_BINDINGS}.*.so"), "import tensorrt", needed=True)


CARD = Card(("tensorrt-bindings", "tensorrt-cu*-bindings"), module="tensorrt_bindings", loading=Loading(steps))
