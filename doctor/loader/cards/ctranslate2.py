"""CTranslate2: one library beside the package, which holds CUDA's runtime and opens cuBLAS by its name.

Its wheels from 3.0 (for Windows from 3.6) to 4.6.2 use cuDNN, for convolutions alone, and bring its main library, which
opens its parts by their names. Source: ctranslate2/__init__.py and the texts of libctranslate2-*.so of 4.4.0, 4.6.0 and
4.8.5, an LD_DEBUG trace; its wheels for Windows; OpenNMT/CTranslate2: src/cuda/cublas_stub.cc,
python/tools/prepare_build_environment_linux.sh of 4.3.1 to 4.8.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.binaries.elf import Elf, ElfError
from doctor.binaries.fatbin import SECTIONS
from doctor.host import Host, HostError
from doctor.loader.cards import Card, Loading, describe
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Place, Seen, Unseen
from doctor.pyenv.metadata import requires

_CUBLAS = {"2": "libcublas.so.11", "3": "libcublas.so.11", "4": "libcublas.so.12"}  # by the major of the release
_LIBRARIES = "ctranslate2.libs"


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """A CPU build by its library, which has no section of GPU code; which CUDA build it is, no file says in text."""
    return describe(
        one,
        environment,
        "ctranslate2",
        build=_build(host, f"{one.site}/{_LIBRARIES}"),
        cuda=Unseen(f"no file of {one.name} {one.version} says it in text"),
        requires=requires(host, one),
    )


def _build(host: Host, folder: str) -> Seen[str]:
    try:
        path = next(f"{folder}/{name}" for name in host.names(folder) if name.startswith("libctranslate2"))
        with host.open(path) as stream:
            sections = Elf(stream).sections()
    except (HostError, ElfError, StopIteration):
        return Seen("", "its library was not read")  # built here, or a wheel for Windows
    if sections and not any(section.name in SECTIONS for section in sections):
        return Seen("cpu", f"no GPU code in {path}")
    return Seen("", Place(path))


def steps(package: Package) -> Iterator[Step]:
    """The import opens nothing of CUDA's; the driver is asked for cards, cuBLAS where a model computes on one."""
    yield Step(package.files("ctranslate2/_ext.*.so"), "import ctranslate2", needed=True)
    yield Step(("libcuda.so.1",), "CUDA's runtime, which it has inside, opens the driver", "libctranslate2", use=True)
    name = _CUBLAS.get(package.framework.version.partition(".")[0], "")
    if name and not package.framework.is_cpu_build:
        yield Step((name,), "CTranslate2 opens it by its name", "libctranslate2", use=True)


CARD = Card(("ctranslate2",), read, loading=Loading(steps))
