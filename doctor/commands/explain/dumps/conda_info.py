"""`conda info`, `mamba info`, `pixi info`: the virtual packages say what conda sees of the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_VIRTUAL = r"(?:^|[\s,\[])__(cuda|glibc|linux|win|osx)=([\w.+-]+?)(?:=\w+)?(?=[\s,\]]|$)"
_PLATFORM = r"^ *[Pp]latform *: *(linux-64|linux-aarch64|linux-ppc64le|win-64|osx-64|osx-arm64) *$"
_PLATFORMS = {
    "linux-64": ("linux", "x86_64"),
    "linux-aarch64": ("linux", "aarch64"),
    "linux-ppc64le": ("linux", "ppc64le"),
    "win-64": ("windows", "AMD64"),
    "osx-64": ("macos", "x86_64"),
    "osx-arm64": ("macos", "arm64"),
}
_FIELDS = {"cuda": Field.DRIVER_CUDA, "glibc": Field.GLIBC}
_FAMILIES = {"linux": "linux", "win": "windows", "osx": "macos"}


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        for name, value in re.findall(_VIRTUAL, line.text):
            if name in _FAMILIES:
                yield Said(Field.FAMILY, _FAMILIES[name], line.number)
            elif re.fullmatch(r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?", value):
                yield Said(_FIELDS[name], ".".join(value.split(".")[:2]), line.number)
        if found := re.match(_PLATFORM, line.text):
            family, machine = _PLATFORMS[found[1]]
            yield Said(Field.FAMILY, family, line.number)
            yield Said(Field.MACHINE, machine, line.number)


DUMP = Dump(
    title="conda info",
    mark=r"^ *[Vv]irtual packages *: *__\w+=|available virtual packages on your machine: \[",
    tell=_tell,
    source="conda/conda: conda/cli/main_info.py; prefix-dev/pixi: crates/pixi_cli/src/info.rs",
)
