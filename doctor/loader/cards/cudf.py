"""RAPIDS: cuDF, whose `import` opens the libraries of the wheels below it one after the other, by their paths.

Source: libcudf/load.py, librmm/load.py, libkvikio/load.py, nvidia/libnvcomp/load.py and rapids_logger/load.py of
26.10, the LD_DEBUG trace of `import cudf`.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host
from doctor.loader import pathfinder
from doctor.loader.cards import Card, Loading, cupy, describe, numba
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Seen, Unseen
from doctor.pyenv.metadata import requires

_ORDER = ("rapids_logger/lib64/librapids_logger.so", "librmm/lib64/librmm.so", "libkvikio/lib64/libkvikio.so",
          "nvidia/libnvcomp/lib64/libnvcomp.so.*", "libcudf/lib64/libcudf.so")  # fmt: skip


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The CUDA major by the name, cudf-cu12."""
    module, _, major = one.name.rpartition("-cu")
    why = f"{one.name} {one.version} runs on every CUDA {major}"
    build = Seen("cuda", "name of the distribution")
    return describe(one, environment, module or one.name, build=build, requires=requires(host, one), cuda=Unseen(why))


def steps(package: Package) -> Iterator[Step]:
    """The import opens its own and imports CuPy and Numba; a system's come first only where a variable asks for it."""
    for library in ("nvJitLink", "nvrtc", "cufile"):
        yield from pathfinder.steps(package, library, f"cuda.pathfinder opens {library} for RAPIDS", use=False)
    for path in _ORDER:
        yield Step(package.anywhere(path), "load_library() opens the wheel's library by its path")
    for name, card in ((f"cupy-cuda{package.framework.package[-2:]}x", cupy), ("numba-cuda", numba)):
        beside = package.beside(name)
        yield from card.steps(beside) if beside else ()


CARD = Card(("cudf-cu*",), read, loading=Loading(steps))
