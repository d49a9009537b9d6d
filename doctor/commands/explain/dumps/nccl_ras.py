"""NCCL's RAS (ncclras): the release of NCCL, and the CUDA of the runtime and of the driver, 12060."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.version import CudaVersion
from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_VERSIONS = re.compile(r"^ *CUDA runtime version (\d{4,5}), driver version (\d{4,5})")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        if found := _VERSIONS.match(line.text):
            yield Said(Field.DRIVER_CUDA, str(CudaVersion.from_encoded(int(found[2]))), line.number)
            yield Said(Field.CUDA_WORKS, "yes", line.number)


DUMP = Dump(
    title="ncclras",
    mark=r"^ *CUDA runtime version \d{4,5}, driver version \d",
    tell=_tell,
    source="NVIDIA NCCL user guide 2.24 to 2.31, RAS, sample output of ncclras",
)
