"""NVIDIA DALI: its libraries lie beside the package, and their RUNPATH names the wheels around it.

Source: the libraries of nvidia-dali-cuda120 2.4.0 and the texts in them, the LD_DEBUG trace of `import nvidia.dali`.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host
from doctor.loader.cards import Card, Loading, describe
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Seen, Unseen
from doctor.pyenv.metadata import requires


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The CUDA major by the name, nvidia-dali-cuda120."""
    why = f"{one.name} {one.version} runs on a range of CUDA releases"
    build = Seen("cuda", "name of the distribution")
    return describe(one, environment, "nvidia/dali", build=build, requires=requires(host, one), cuda=Unseen(why))


def steps(package: Package) -> Iterator[Step]:
    """The import opens its own libraries; a pipeline opens the driver."""
    yield Step(package.anywhere("nvidia/dali/backend_impl.*.so"), "import nvidia.dali", needed=True)
    yield Step(("libcuda.so.1",), "DALI opens the driver by its name", "libdali_core", use=True)


CARD = Card(
    ("nvidia-dali-cuda*",),
    read,
    loading=Loading(steps, "what its operators open when they run (cuFFT, NPP, nvJPEG, nvCOMP) is not followed"),
)
