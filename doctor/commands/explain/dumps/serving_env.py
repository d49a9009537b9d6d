"""sglang.check_env and mmengine's collect_env: "key: value", with the GPUs of one kind on one line, "GPU 0,1"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_KEYS = {"cuda driver version": Field.DRIVER, "python": Field.PYTHON}
_LINE = re.compile(
    r"^ *(?:(?P<works>CUDA available)|GPU (?P<gpus>\d+(?:,\d+)*)(?P<arch> Compute Capability)?|(?P<nvcc>NVCC)"
    r"|(?P<package>PyTorch|sglang|sgl_kernel|flashinfer|vllm|triton|transformers|numpy|MMEngine)"
    r"): (?P<value>\S.*?) *$"
)
_RELEASE = re.compile(r"release \d+\.\d+, V(\d+\.\d+\.\d+)")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, _KEYS)
    for line in lines:
        found = _LINE.match(line.text)
        if not found:
            continue
        value = found["value"]
        if found["works"]:
            yield Said(Field.CUDA_WORKS if value == "True" else Field.CUDA_FAILS, "yes", line.number)
        elif found["gpus"]:
            field = Field.CAPABILITY if found["arch"] else Field.GPU
            for number in found["gpus"].split(","):
                yield Said(field, f"{number} {value}", line.number)
        elif found["nvcc"]:
            if release := _RELEASE.search(value):
                yield Said(Field.NVCC, release[1], line.number)
        elif value[0].isdigit():
            name = "torch" if found["package"] == "PyTorch" else found["package"].lower()
            yield Said(Field.PACKAGE, f"{name}=={value.split()[0]}", line.number)


DUMP = Dump(
    title="sglang.check_env",
    mark=r"^ *(?:sglang|MMEngine): \d|^ *CUDA Driver Version: \d{3}\.\d",
    tell=_tell,
    source="sgl-project/sglang: python/sglang/check_env.py; open-mmlab/mmengine: mmengine/utils/dl_utils/"
    "collect_env.py",
)
