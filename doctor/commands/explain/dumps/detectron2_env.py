"""detectron2's collect_env: a table "key   value"; a package with the path that it was loaded from, behind "@"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_LINE = re.compile(
    r"^ *(?:(?P<works>GPU available)|GPU (?P<gpus>\d+(?:,\d+)*)|(?P<driver>Driver version)|(?P<python>Python)"
    r"|(?P<package>PyTorch|detectron2|torchvision|numpy)) {2,}(?P<value>\S.*?) *$"
)
_ARCH = re.compile(r"(.*?) \(arch=(\d+\.\d)\)$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        found = _LINE.match(line.text)
        if not found:
            continue
        value = found["value"]
        if found["works"]:
            yield Said(Field.CUDA_WORKS if value.startswith(("Yes", "True")) else Field.CUDA_FAILS, "yes", line.number)
        elif found["gpus"]:
            name = _ARCH.match(value)
            for number in found["gpus"].split(","):
                yield Said(Field.GPU, f"{number} {name[1] if name else value}", line.number)
                if name:
                    yield Said(Field.CAPABILITY, f"{number} {name[2]}", line.number)
        elif found["driver"]:
            yield Said(Field.DRIVER, value, line.number)
        elif found["python"]:
            yield Said(Field.PYTHON, value, line.number)
        elif value[0].isdigit():
            name_of = "torch" if found["package"] == "PyTorch" else found["package"]
            yield Said(Field.PACKAGE, f"{name_of}=={value.split()[0]}", line.number)


DUMP = Dump(
    title="detectron2.utils.collect_env",
    mark=r"^ *PyTorch debug build {2,}|^ *detectron2 {2,}\S",
    tell=_tell,
    source="facebookresearch/detectron2: detectron2/utils/collect_env.py",
)
