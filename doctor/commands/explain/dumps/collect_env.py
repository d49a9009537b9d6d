"""torch's collect_env, and vLLM's, which is made of it: "key: value", GPUs on lines of their own, then packages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_KEYS = {
    "os": Field.SYSTEM,
    "libc version": Field.GLIBC,
    "python version": Field.PYTHON,
    "python platform": Field.PLATFORM,
    "nvidia driver version": Field.DRIVER,
}
_CUDA = re.compile(r"^CUDA used to build PyTorch *: *(\S+)")
_TORCH = re.compile(r"^PyTorch version *: *(\d\S*)")
_WORKS = re.compile(r"^Is CUDA available *: *(?:(Yes|True)|No|False)\b")
_MODELS = re.compile(r"^(?:GPU models and configuration *: *)?GPU (\d+): (.+)")
_NVCC = re.compile(r"^CUDA runtime version *: *(\d+\.\d+(?:\.\d+)?)$")
_CUDNN = re.compile(r"^(?:cuDNN version *: *)?((?:/|[A-Za-z]:\\)\S.*?cudnn\S*(?:\.so[.\d]*|\.dll))$")
_VARIABLES = re.compile(r"^Environment Variables$")
_VARIABLE = re.compile(r"^([A-Z][A-Z0-9_]+)=(.*)$")
_PACKAGE = re.compile(r"^\[(pip\d?|conda)\] ([A-Za-z][\w.-]*)(?:==|\s+)v?(\d\S*)(?:\s+(\S+))?")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, _KEYS)
    in_variables = False  # vLLM's last section
    for line in lines:
        text = line.text.strip()
        in_variables = in_variables and (not text.strip("=") or bool(_VARIABLE.match(text)))
        if _VARIABLES.match(text):
            in_variables = True
            yield Said(Field.ALL_VARIABLES, "all", line.number)
        elif in_variables and text.strip("="):
            yield Said(Field.VARIABLE, text, line.number)
        elif found := _NVCC.match(text):
            yield Said(Field.NVCC, found[1], line.number)
        elif found := _CUDNN.match(text):
            yield Said(Field.CUDNN_FILE, found[1], line.number)
        elif found := _TORCH.match(text):
            yield Said(Field.PACKAGE, f"torch=={found[1]}", line.number)
        elif found := _CUDA.match(text):
            yield Said(Field.TORCH_CUDA, "None" if text.endswith("Could not collect") else found[1], line.number)
        elif found := _WORKS.match(text):
            yield Said(Field.CUDA_WORKS if found[1] else Field.CUDA_FAILS, "yes", line.number)
        elif found := _MODELS.match(text):
            yield Said(Field.GPU, f"{found[1]} {found[2].strip()}", line.number)
        elif found := _PACKAGE.match(text):
            field = Field.PACKAGE if found[1] != "conda" or found[4] in ("pypi", "<pip>") else Field.CONDA_PACKAGE
            yield Said(field, f"{found[2]}=={found[3]}", line.number)


DUMP = Dump(
    title="collect_env",
    mark=r"^ *PyTorch version *:",
    tell=_tell,
    source="pytorch/pytorch: torch/utils/collect_env.py; vllm-project/vllm: vllm/collect_env.py",
)
