"""`python -m bitsandbytes`: "key: value", torch's CUDA on an indented line below torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_KEYS = {"platform": Field.PLATFORM, "python": Field.PYTHON}
_HEAD = re.compile(r"^ *=* *bitsandbytes v(\d[\w.]*) *=*$")
_PACKAGE = re.compile(r"^ *(?:(PyTorch)|(?:accelerate|numpy|transformers|triton)): (\d\S*)$")
_CUDA = re.compile(r"^ *CUDA: (\d+\.\d+|N/A)$")
_FAILS = re.compile(r"^ *PyTorch says CUDA is not available\.")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, _KEYS)
    for line in lines:
        text = line.text.rstrip()
        if found := _HEAD.match(text):
            yield Said(Field.PACKAGE, f"bitsandbytes=={found[1]}", line.number)
        elif found := _PACKAGE.match(text):
            name = "torch" if found[1] else text.split(":")[0].strip()
            yield Said(Field.PACKAGE, f"{name}=={found[2]}", line.number)
        elif found := _CUDA.match(text):
            yield Said(Field.TORCH_CUDA, "None" if found[1] == "N/A" else found[1], line.number)
        elif _FAILS.match(text):
            yield Said(Field.CUDA_FAILS, "yes", line.number)


DUMP = Dump(
    title="python -m bitsandbytes",
    mark=r"^ *=* *bitsandbytes v\d",
    tell=_tell,
    source="bitsandbytes-foundation/bitsandbytes: bitsandbytes/diagnostics/main.py, of the 0.48.2 wheel",
)
