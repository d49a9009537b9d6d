"""Numba: it compiles kernels when they run; its part for CUDA is numba-cuda, which asks cuda.pathfinder.

Source: numba_cuda/numba/cuda/cuda_paths.py (_get_nvrtc, _get_nvvm) and cudadrv/driver.py (the driver's two names) of
numba-cuda 0.30.4, its LD_DEBUG trace. The search of Numba's own older part is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.loader import pathfinder
from doctor.loader.cards import Card, Loading, Switch, is_on
from doctor.loader.steps import CTYPES, Package, Step


def steps(package: Package) -> Iterator[Step]:
    """The import opens nothing of CUDA's; a kernel is compiled with NVRTC or NVVM."""
    yield Step(("libcuda.so.1",), "Numba opens the driver by its name", CTYPES, use=True)
    for library in ("cudart", "nvrtc"):
        yield from pathfinder.steps(package, library, f"cuda.pathfinder opens {library} for Numba")


# numba/core/config.py of numba 0.67; https://numba.readthedocs.io/en/stable/reference/envvars.html
_SWITCHES = (
    Switch("NUMBA_DISABLE_CUDA", lambda value: "Numba refuses every use of CUDA" if is_on(value) else "", ("numba",)),
    Switch(
        "NUMBA_ENABLE_CUDASIM",
        lambda value: "Numba runs CUDA kernels in a simulator on the CPU" if is_on(value) else "",
        ("numba",),
    ),
)

CARD = Card(
    ("numba", "numba-cuda"),
    module="numba",
    loading=Loading(steps),
    speakers=("numba-cuda",),
    switches=_SWITCHES,
)
