"""RAPIDS: rmm, the memory manager that cuDF and cuML stand on; source: librmm/load.py of 26.10."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.loader.cards import Card, Loading
from doctor.loader.cards.cudf import read
from doctor.loader.steps import Package, Step


def steps(package: Package) -> Iterator[Step]:
    """The import opens its library; memory is asked of the driver."""
    for path in ("rapids_logger/lib64/librapids_logger.so", "librmm/lib64/librmm.so"):
        yield Step(package.anywhere(path), "load_library() opens the wheel's library by its path")
    yield Step(("libcuda.so.1",), "CUDA's runtime, which it has inside, opens the driver", "librmm", use=True)


CARD = Card(("rmm-cu*",), read, loading=Loading(steps))
