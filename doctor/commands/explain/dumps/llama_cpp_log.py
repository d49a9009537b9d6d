"""The lines that llama.cpp prints at its start: the GPUs that its CUDA backend uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_DEVICE = r"\bDevice (\d{1,3}): (\S.{0,100}?), compute capability (\d{1,2}\.\d)\b"


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        if found := re.search(_DEVICE, line.text):
            yield Said(Field.GPU, f"{found[1]} {found[2]}", line.number)
            yield Said(Field.CAPABILITY, f"{found[1]} {found[3]}", line.number)
            yield Said(Field.CUDA_WORKS, "yes", line.number)


DUMP = Dump(
    title="llama.cpp's log",
    mark=r"ggml_cuda_init: found \d+ CUDA devices|\bDevice \d{1,3}: .{1,100}, compute capability \d",
    tell=_tell,
    source="ggml-org/llama.cpp: ggml/src/ggml-cuda/ggml-cuda.cu, ggml_cuda_init",
)
