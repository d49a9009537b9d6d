"""CTranslate2: one library beside the package, which holds CUDA's runtime and opens cuBLAS by its name.

Source: ctranslate2/__init__.py and the texts of libctranslate2-*.so of 4.8.5, its LD_DEBUG trace.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.frameworks import Card, Loading
from doctor.loader.steps import Package, Step

_CUBLAS = {"4": "libcublas.so.12"}  # by the major of the release


def steps(package: Package) -> Iterator[Step]:
    """The import opens nothing of CUDA's; the driver is asked for cards, cuBLAS where a model computes on one."""
    yield Step(package.files("ctranslate2/_ext.*.so"), "import ctranslate2", needed=True)
    yield Step(("libcuda.so.1",), "CUDA's runtime, which it has inside, opens the driver", "libctranslate2", use=True)
    name = _CUBLAS.get(package.framework.version.partition(".")[0], "")
    if name:
        yield Step((name,), "CTranslate2 opens it by its name", "libctranslate2", use=True)


CARD = Card(("ctranslate2",), module="ctranslate2", loading=Loading(steps))
