"""A libcuda.so.1 that reports one device and fails at everything else, so that frameworks go on to CUDA's libraries."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.lab.stub import compiled

_SOURCE = Path(__file__).with_name("stub_cuda.c")
_NAME = re.compile(rb"\0(cu[A-Z][A-Za-z0-9]+(?:_v\d|_ptsz|_ptds)*)(?=\0)")
_BLOCK_BYTES = 64 << 20


def stub(folder: Path, askers: Iterable[Path]) -> Path:
    """The directory of the stub, for LD_LIBRARY_PATH.

    `askers` are libraries whose texts name the driver's functions; each one gets a function that answers
    CUDA_ERROR_NO_DEVICE.
    """
    own = _SOURCE.read_text()
    names = {name for path in askers for name in _names_in(path) if not re.search(rf"\b{name}\(", own)}
    lines = [f'__attribute__((visibility("default"))) int {name}(void) {{ return 100; }}' for name in sorted(names)]
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "stub.c"
    source.write_text(own + "\n".join(lines) + "\n")
    shutil.copyfile(compiled(source, "-w", "-ldl", "-Wl,-soname,libcuda.so.1"), folder / "libcuda.so.1")
    return folder


def _names_in(path: Path) -> set[str]:
    found: set[bytes] = set()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            found.update(_NAME.findall(block))
    return {name.decode() for name in found}
