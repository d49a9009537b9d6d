"""The lines that Ollama prints at its start, one for each GPU: `msg="inference compute"`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_GPU = r'\bmsg="inference compute".{0,200}? library=cuda\b'
_VALUE = r'\b(?P<key>compute|name|description|driver)=(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))'


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    number = 0
    for line in lines:
        if not re.search(_GPU, line.text):
            continue
        said = {one["key"]: one["quoted"] or one["plain"] or "" for one in re.finditer(_VALUE, line.text)}
        name = said.get("description") or said.get("name", "")  # before 0.12 the name is the GPU's
        if name:
            yield Said(Field.GPU, f"{number} {name}", line.number)
        if re.fullmatch(r"\d{1,2}\.\d", said.get("compute", "")):
            yield Said(Field.CAPABILITY, f"{number} {said['compute']}", line.number)
        if re.fullmatch(r"\d{1,2}\.\d", said.get("driver", "")):
            yield Said(Field.DRIVER_CUDA, said["driver"], line.number)
        yield Said(Field.CUDA_WORKS, "yes", line.number)
        number += 1


DUMP = Dump(
    title="Ollama's log",
    mark=r'msg="inference compute".{0,200} library=cuda\b',
    tell=_tell,
    source="ollama/ollama: discover/types.go",
)
