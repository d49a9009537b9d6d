"""`python -m xformers.info`: "key:   value" with dotted keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_HEAD = re.compile(r"^xFormers (\d\S*)$")
_LINE = re.compile(r"^(pytorch\.version|pytorch\.cuda|gpu\.compute_capability|gpu\.name): +(\S.*?) *$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        text = line.text.strip()
        if found := _HEAD.match(text):
            yield Said(Field.PACKAGE, f"xformers=={found[1]}", line.number)
        elif found := _LINE.match(text):
            key, value = found.groups()
            if key == "pytorch.version":
                yield Said(Field.PACKAGE, f"torch=={value}", line.number)
            elif key == "pytorch.cuda":
                yield Said(Field.CUDA_WORKS if value == "available" else Field.CUDA_FAILS, "yes", line.number)
            else:
                yield Said(Field.GPU if key == "gpu.name" else Field.CAPABILITY, f"0 {value}", line.number)


DUMP = Dump(
    title="xformers.info",
    mark=r"^ *pytorch\.version: ",
    tell=_tell,
    source="facebookresearch/xformers: xformers/info.py, of the 0.0.31 wheel",
)
