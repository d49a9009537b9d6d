"""`numba -s`: "key   : value", and a list of the CUDA devices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_KEYS = {"platform name": Field.PLATFORM, "python version": Field.PYTHON}
_LINE = re.compile(r"^ *(CUDA Device Initialized|CUDA Driver Version|Numba Version|Compute Capability) *: +(\S.*?) *$")
_DEVICE = re.compile(r"^ *id (\d+) +b?'([^']+)' ")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, _KEYS)
    number = "0"
    for line in lines:
        if device := _DEVICE.match(line.text):
            number = device[1]
            yield Said(Field.GPU, f"{number} {device[2]}", line.number)
            continue
        found = _LINE.match(line.text)
        if not found:
            continue
        key, value = found.groups()
        if key == "CUDA Device Initialized":
            yield Said(Field.CUDA_WORKS if value == "True" else Field.CUDA_FAILS, "yes", line.number)
        elif key == "CUDA Driver Version":
            if re.fullmatch(r"\d+\.\d+", value):
                yield Said(Field.DRIVER_CUDA, value, line.number)
        elif key == "Numba Version":
            yield Said(Field.PACKAGE, f"numba=={value}", line.number)
        elif key == "Compute Capability":
            yield Said(Field.CAPABILITY, f"{number} {value}", line.number)


DUMP = Dump(
    title="numba -s",
    mark=r"^ *__CUDA Information__",
    tell=_tell,
    source="numba/numba: numba/misc/numba_sysinfo.py",
)
