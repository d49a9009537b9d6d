"""nvidia-smi: its table, its list (-L), and -q, as XML, too; names that are cut off are looked up by what is left."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_HEAD = re.compile(r"NVIDIA-SMI +[\d.]+ +(?:KMD |Driver )Version: *([\d.]+)(?: +CUDA (?:UMD )?Version: *(\d+\.\d+))?")
_ROW = re.compile(
    r"^\| +(\d+) +(\S.{0,200}?) {1,200}(?:On|Off|WDDM|TCC|MCDM|N/A|ERR!)(?: +\|| +[0-9A-Fa-f]{4,8}:| +\| )"
)
_MODEL = re.compile(r"^ *\| +GPU +Name +(?:(Persistence-M)|Driver-Model|TCC/WDDM) *\|")
_LISTED = re.compile(r"^GPU (\d+): (\S.*?) \(UUID: ")
_FACT = re.compile(r"^ *(Driver Version|CUDA Version|Product Name) +: +(\S.*?) *$")
_XML = re.compile(r"^\s*<(driver_version|cuda_version|product_name)>([^<]+)</")
_FIELDS = {"driver version": Field.DRIVER, "cuda version": Field.DRIVER_CUDA, "product name": Field.GPU}


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    number = -1
    for line in lines:
        if found := _HEAD.search(line.text):
            yield Said(Field.DRIVER, found[1], line.number)
            if found[2]:
                yield Said(Field.DRIVER_CUDA, found[2], line.number)
        elif found := _MODEL.search(line.text):
            yield Said(Field.FAMILY, "linux" if found[1] else "windows", line.number)
        elif found := _ROW.match(line.text.strip()) or _LISTED.match(line.text.strip()):
            yield Said(Field.GPU, f"{found[1]} {found[2]}", line.number)
        elif found := _FACT.match(line.text) or _XML.match(line.text):
            field, value = _FIELDS[found[1].lower().replace("_", " ")], found[2].strip()
            number += field is Field.GPU
            yield Said(field, f"{number} {value}" if field is Field.GPU else value, line.number)


DUMP = Dump(
    title="nvidia-smi",
    mark=r"NVIDIA-SMI +\d|^GPU \d+: .* \(UUID: |^ *Driver Version +: +\d|^[ \t]*<driver_version>\d",
    tell=_tell,
    source="nvidia-smi of the drivers 340 to 580",
)
