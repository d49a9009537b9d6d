"""The CUDA kernels compiled for the host: every thread's work one after the other, so that it can be compared."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np

from doctor.commands.bench.backends.host import HostBackend
from doctor.commands.bench.backends.kernels import SOURCE, KernelIm2col, KernelOperations
from doctor.commands.bench.shapes import Geometry
from tests.lab.stub import compiled

BEFORE = """
#include <math.h>
#define __global__ static
struct Dimension { long long x; };
static Dimension blockIdx, blockDim = {1}, threadIdx;
static int min(int one, int other) { return one < other ? one : other; }
"""
TYPES = {"float": ctypes.c_float, "int": ctypes.c_int, "long long": ctypes.c_longlong}


def source() -> str:
    return Path(SOURCE).read_text(encoding="utf-8")


def signatures() -> dict[str, list[str]]:
    """The parameters of every kernel."""
    found = re.findall(r"__global__ void (\w+)\(([^)]*)\)", source())
    return {name: [" ".join(one.split()) for one in parameters.split(",")] for name, parameters in found}


def in_a_loop(name: str, parameters: list[str]) -> str:
    names = ", ".join(re.findall(r"\w+", one)[-1] for one in parameters)
    loop = "for (blockIdx.x = 0; blockIdx.x < total; blockIdx.x++)"
    return f'extern "C" void all_{name}({", ".join(parameters)}) {{ {loop} {name}({names}); }}'


def build(folder: Path) -> ctypes.CDLL:
    loops = "\n".join(in_a_loop(name, parameters) for name, parameters in signatures().items())
    (folder / "kernels.cpp").write_text(BEFORE + source() + loops)
    return ctypes.CDLL(str(compiled(folder / "kernels.cpp", "-std=c++11", "-fvisibility=default")))


class HostLaunch:
    """A `Launch` on the host, which checks every argument's type against the kernel's."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._signatures = signatures()
        self.launched: list[str] = []

    def __call__(self, name: str, arrays: tuple[Any, ...], total: int, scalars: tuple[Any, ...]) -> None:
        given = (*arrays, np.int64(total), *scalars)
        parameters = self._signatures[name]
        assert len(given) == len(parameters), name
        self.launched.append(name)
        getattr(self._library, f"all_{name}")(
            *(argument(one, said) for one, said in zip(given, parameters, strict=True))
        )


def argument(given: Any, said: str) -> Any:
    kind = said.removeprefix("const ").rpartition(" ")[0]
    if "*" in said:
        assert given.dtype == {"float": np.float32, "unsigned char": np.uint8}[kind], said
        assert given.flags.c_contiguous, said
        return given.ctypes.data_as(ctypes.c_void_p)
    assert given.dtype == {"float": np.float32, "int": np.int32, "long long": np.int64}[kind], said
    return TYPES[kind](given.item())


class KernelBackend(HostBackend):
    """NumPy's arrays, and the kernels."""

    def __init__(self, launch: HostLaunch) -> None:
        super().__init__()
        self.operations = KernelOperations(np, launch)
        self._launch = launch

    def convolver(self, name: str, geometry: Geometry, batch: int) -> KernelIm2col:
        return KernelIm2col(np, geometry, 1 << 20, self._launch)
