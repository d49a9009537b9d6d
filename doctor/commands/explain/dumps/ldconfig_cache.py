"""`ldconfig -p`: the copies of cuDNN that the loader's cache has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_ENTRY = r"^\s*(lib\S+\.so[\w.]*) \(libc6(?:,(x86-64|AArch64))?[^)]*\) => (/\S+)"
_MACHINES = {"x86-64": "x86_64", "AArch64": "aarch64"}


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        found = re.match(_ENTRY, line.text)
        if not found:
            continue
        yield Said(Field.FAMILY, "linux", line.number)
        if found[2]:
            yield Said(Field.MACHINE, _MACHINES[found[2]], line.number)
        if re.match(r"libcudnn\w*\.so\.\d", found[1]):
            yield Said(Field.CUDNN_FILE, found[3], line.number)


DUMP = Dump(
    title="ldconfig -p",
    mark=r"^\s*lib(?:cud|cub|cuf|cur|cus|nv|nccl)\S*\.so[\w.]* \(libc6[^)]*\) => /",
    tell=_tell,
    source="glibc: elf/cache.c, print_entry",
)
