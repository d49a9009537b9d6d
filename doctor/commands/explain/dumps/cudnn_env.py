"""python -m cudnn.collect_env: "key: value", GPUs by torch or nvidia-smi, the packages that matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_KEYS = {
    "python": Field.PYTHON,
    "platform": Field.PLATFORM,
    "os": Field.SYSTEM,
    "driver version": Field.DRIVER,
    "torch.version.cuda": Field.TORCH_CUDA,
}
_LIBC = re.compile(r"^ *libc *: *glibc (\d+\.\d+)")
_TORCH = re.compile(r"^ *torch *: *(\d\S*)")
_BY_TORCH = re.compile(r"^ *GPU (\d+) \(CUDA order\) *: *([^| ][^|]*) \| SM(\d+)(\d) \|")
_BY_SMI = re.compile(r"^ *GPU (\d+) \(nvidia-smi order\) *: *([^ ,][^,]*), *(\d+\.\d+),")
_NVCC = re.compile(r"^ *nvcc version *: *release [\d.]+, V(\d+\.\d+\.\d+)")
_NVCC_PATH = re.compile(r"^ *nvcc on PATH *: *(/\S+|[A-Za-z]:\\\S.*)$")
_SECTION = re.compile(r"^ *==== (.+) ====$")
_VARIABLE = re.compile(r"^ *([A-Za-z_]\w*) *: (.*)$")
_PACKAGE = re.compile(r"^ *([a-z][a-z0-9-]*)(?:==| *: *)(\d[\w.+]*)(?: |$)")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, _KEYS)
    section, by_torch = "", False
    for line in lines:
        if found := _SECTION.match(line.text):
            section = found[1]
            if section == "Environment Variables" and not by_torch:  # torch lists the GPUs that they leave
                yield Said(Field.ALL_VARIABLES, "all", line.number)
        elif section == "Environment Variables" and (found := _VARIABLE.match(line.text)):
            yield Said(Field.VARIABLE, f"{found[1]}={found[2]}", line.number)
        elif found := _NVCC.match(line.text):
            yield Said(Field.NVCC, found[1], line.number)
        elif found := _NVCC_PATH.match(line.text):
            yield Said(Field.NVCC_PATH, found[1], line.number)
        elif found := _LIBC.match(line.text):
            yield Said(Field.GLIBC, found[1], line.number)
        elif found := _TORCH.match(line.text):
            yield Said(Field.PACKAGE, f"torch=={found[1]}", line.number)
        elif found := _BY_TORCH.match(line.text):
            by_torch = True
            yield Said(Field.GPU, f"{found[1]} {found[2].strip()}", line.number)
            yield Said(Field.CAPABILITY, f"{found[1]} {found[3]}.{found[4]}", line.number)
        elif found := _BY_SMI.match(line.text):
            yield Said(Field.GPU, f"{found[1]} {found[2]}", line.number)
            yield Said(Field.CAPABILITY, f"{found[1]} {found[3]}", line.number)
        elif found := _PACKAGE.match(line.text):
            yield Said(Field.PACKAGE, f"{found[1]}=={found[2]}", line.number)


DUMP = Dump(
    title="cudnn.collect_env",
    mark=r"^ *cudnn-frontend *:|backend search order (?:would pick|picks)",
    tell=_tell,
    source="NVIDIA/cudnn-frontend: python/cudnn/collect_env.py",
)
