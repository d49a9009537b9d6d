"""ds_report: "torch version .................... 2.1.0+cu121"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_LINE = re.compile(r"^ *(torch version|torch cuda version|deepspeed info|nvcc version) \.{2,} *([^\s.]\S*?),?(?: |$)")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        found = _LINE.match(line.text)
        if not found:
            continue
        if found[1] == "torch cuda version":
            yield Said(Field.TORCH_CUDA, found[2], line.number)
        elif found[1] == "nvcc version":
            if re.fullmatch(r"\d+\.\d+", found[2]):  # else that there is none
                yield Said(Field.BUILDER, found[2], line.number)
        else:
            name = "torch" if found[1] == "torch version" else "deepspeed"
            yield Said(Field.PACKAGE, f"{name}=={found[2]}", line.number)


DUMP = Dump(
    title="ds_report",
    mark=r"^ *torch version \.{2,}|^DeepSpeed (?:C\+\+/CUDA extension|general environment)",
    tell=_tell,
    source="deepspeedai/DeepSpeed: deepspeed/env_report.py",
)
