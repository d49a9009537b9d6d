"""bitsandbytes: one library for each CUDA version, chosen when it is imported.

Sources: bitsandbytes/cextension.py of 0.50.2 (get_cuda_bnb_library_path), cuda_setup/main.py of 0.36.0.post2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compat.traits import nearest_library, takes_the_runtime_that_it_finds
from doctor.host import Host, HostError
from doctor.loader.cards import Card, Loading, describe, torch
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.metadata import requires


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The CUDA versions by the names libbitsandbytes_cuda128.so; torch's CUDA picks one."""
    folder = f"{one.site}/bitsandbytes"
    try:
        names = host.names(folder)
    except HostError as error:
        return describe(one, environment, "bitsandbytes", build=Unseen(str(error)), requires=requires(host, one))
    versions = sorted((int(digits[:-1]), int(digits[-1])) for digits in _digits(names))
    text = ", ".join(f"{major}.{minor}" for major, minor in versions)
    build: Fact[str] = Seen("cuda", Place(folder)) if versions else Seen("cpu", f"no CUDA library in {folder}")
    return describe(
        one,
        environment,
        "bitsandbytes",
        build=build,
        requires=requires(host, one),
        cuda=Unseen(f"it carries a library for each of CUDA {text}") if versions else None,
        note=f"has libraries for CUDA {text}" if versions else "",
    )


def _digits(names: Iterable[str]) -> set[str]:
    """Of the CUDA versions that names of libraries have, "128"."""
    return {match[1] for name in names if (match := re.search(r"bitsandbytes_cuda(\d{2,3})", name))}


def steps(package: Package) -> Iterator[Step]:
    """torch first, then the library for torch's CUDA, or nearest to it, unless a variable names another CUDA's.

    Which one an old release opens is not foreseen: that for the libcudart.so that it finds.
    """
    base, one = package.beside("torch"), package.framework
    yield from torch.steps(base) if base else ()
    if takes_the_runtime_that_it_finds(one.package, one.version):
        return
    cuda = base.framework.cuda if base else None
    digits = package.host.environ.get("BNB_CUDA_VERSION", "")
    if not digits and isinstance(cuda, Seen):
        there = _digits(package.files("bitsandbytes/libbitsandbytes_cuda*.so"))
        own = f"{cuda.value.major}{cuda.value.minor}"
        digits = own if own in there else nearest_library(one.package, one.version, cuda.value, there)
    library = package.files(f"bitsandbytes/libbitsandbytes_cuda{digits}.so") if digits else ()
    yield Step(library, "bitsandbytes opens the library for torch's CUDA")


CARD = Card(("bitsandbytes",), read, loading=Loading(steps))
