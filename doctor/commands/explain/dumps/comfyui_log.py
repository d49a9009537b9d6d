"""The lines that ComfyUI prints at its start: torch's release, and the GPU that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_LINE = re.compile(
    r"(?P<key>pytorch version|xformers version|\*\* Python version|Python version|Device): +(?P<value>\S.*?) *$"
)
_DEVICE = re.compile(r"cuda:(\d+) (.+?)(?: : \w+)?$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        found = _LINE.search(line.text)
        if not found:
            continue
        key, value = found["key"], found["value"]
        if key == "Device":
            if device := _DEVICE.match(value):
                yield Said(Field.GPU, f"{device[1]} {device[2]}", line.number)
        elif key.endswith("Python version"):
            yield Said(Field.PYTHON, value, line.number)
        else:
            yield Said(Field.PACKAGE, f"{'torch' if key.startswith('pytorch') else 'xformers'}=={value}", line.number)


DUMP = Dump(
    title="ComfyUI's log",
    mark=r"pytorch version: \d",
    tell=_tell,
    source="comfyanonymous/ComfyUI: comfy/model_management.py, main.py",
)
