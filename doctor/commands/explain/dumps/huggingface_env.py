"""The env of transformers, accelerate and diffusers: "- key: value"; of the GPUs torch's current one alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_KEYS = {"- platform": Field.PLATFORM, "- python version": Field.PYTHON}
_TORCH = re.compile(r"^ *- PyTorch version(?: \((?:GPU|accelerator)\?\))?: (\d\S*)(?: \((True|CUDA|False|NA)\))?")
_OTHER = re.compile(
    r"^ *- (Tensorflow|Jax(?:Lib)?|DeepSpeed|xFormers|Accelerate|`[Aa]ccelerate`|Numpy|`transformers`) version"
    r"(?: \(\S+\?\))?: (\d\S*)(?: \(|$)"
)
_GPU = re.compile(r"^ *- (?:GPU type|Accelerator): (?!AMD|Apple|NA\b)([^<,]+)")
_DEVICE = re.compile(r"^ *- PyTorch accelerator: (?:(CUDA)|N/A)$")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, _KEYS)
    for line in lines:
        if found := _TORCH.match(line.text):
            yield Said(Field.PACKAGE, f"torch=={found[1]}", line.number)
            if found[2] in {"True", "CUDA"}:
                yield Said(Field.CUDA_WORKS, "yes", line.number)
            elif found[2]:
                yield Said(Field.CUDA_FAILS, "yes", line.number)
        elif found := _DEVICE.match(line.text.rstrip()):
            yield Said(Field.CUDA_WORKS if found[1] else Field.CUDA_FAILS, "yes", line.number)
        elif found := _OTHER.match(line.text):
            yield Said(Field.PACKAGE, f"{found[1].strip('`').lower()}=={found[2]}", line.number)
        elif found := _GPU.match(line.text):
            yield Said(Field.GPU, f"0 {found[1].strip()}", line.number)


DUMP = Dump(
    title="transformers env",
    mark=r"^ *- (?:`?(?:transformers|[Aa]ccelerate|(?:🤗 )?[Dd]iffusers)`?) version: ",
    tell=_tell,
    source="huggingface/transformers: src/transformers/cli/system.py, commands/env.py; huggingface/accelerate: "
    "src/accelerate/commands/env.py; huggingface/diffusers: src/diffusers/commands/env.py",
)
