"""jax.print_environment_info: releases by name, devices, uname, JAX_ and XLA_ variables; then what nvidia-smi says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said, keyed
from doctor.messages.reading import Line

_UNAME = re.compile(r"system='(\w+)'.*?release='([^']+)'.*?machine='(\w+)'")
_DEVICES = re.compile(
    r"^ *(?:device info: (?:NVIDIA|Tesla|Quadro)\b|jax\.devices \(.*\[(?:Cuda|StreamExecutorGpu|Gpu)Device)"
)
_VARIABLE = re.compile(r"^ *((?:JAX|XLA)_\w+=.*)$")
_RELEASE = re.compile(r"^ *(jax|jaxlib|numpy): +(\d\S*)")


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    yield from keyed(lines, {"python": Field.PYTHON})
    for line in lines:
        if found := _RELEASE.match(line.text):
            yield Said(Field.PACKAGE, f"{found[1]}=={found[2]}", line.number)
        elif found := _UNAME.search(line.text):
            yield Said(Field.PLATFORM, f"{found[1]}-{found[2]}-{found[3]}", line.number)
        elif _DEVICES.match(line.text):
            yield Said(Field.CUDA_WORKS, "yes", line.number)
        elif found := _VARIABLE.match(line.text):
            yield Said(Field.VARIABLE, found[1], line.number)


DUMP = Dump(
    title="jax.print_environment_info",
    mark=r"^ *jaxlib: +\d",
    tell=_tell,
    source="jax-ml/jax: jax/_src/environment_info.py",
)
