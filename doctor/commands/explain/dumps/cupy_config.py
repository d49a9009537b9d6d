"""cupy.show_config: "key   : value"; the CUDA versions as the runtime counts them, 12040."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.version import CudaVersion
from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_LINE = re.compile(
    r"^ *(OS|nvcc PATH|CUDA Driver Version|Device (\d+) (?:Name|Compute Capability)|Python Version) +: +(\S.*?) *$"
)


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        found = _LINE.match(line.text)
        if not found:
            continue
        key, number, value = found.groups()
        if key == "OS":
            yield Said(Field.PLATFORM, value, line.number)
        elif key == "Python Version":
            yield Said(Field.PYTHON, value, line.number)
        elif key == "nvcc PATH":
            if value != "None":
                yield Said(Field.NVCC_PATH, value.split()[-1], line.number)  # "ccache nvcc" where NVCC says so
        elif key == "CUDA Driver Version":
            if re.fullmatch(r"\d{4,5}", value):  # else an error, as text
                yield Said(Field.DRIVER_CUDA, str(CudaVersion.from_encoded(int(value))), line.number)
        elif key.endswith("Name"):
            yield Said(Field.CUDA_WORKS, "yes", line.number)
            yield Said(Field.GPU, f"{number} {value}", line.number)
        elif re.fullmatch(r"\d{2,3}", value):
            yield Said(Field.CAPABILITY, f"{number} {value[:-1]}.{value[-1]}", line.number)


DUMP = Dump(
    title="cupy.show_config",
    mark=r"^ *CuPy Version +: ",
    tell=_tell,
    source="cupy/cupy: cupyx/_runtime.py",
)
