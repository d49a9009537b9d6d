"""The CUDA that a library of NVIDIA's outside the CUDA releases was built for: NCCL and TensorRT.

NCCL says it itself, "NCCL version 2.27.3+cuda12.9", among its constants (nvidia-nccl-cu11 2.19.3, -cu12 2.18.1 and
2.32.3, -cu13 2.32.3: 100 to 900 KiB to search, remembered). TensorRT's libraries do not; the package does that brings
them: tensorrt-cu12-libs, or libnvinfer10 10.13.2.6-1+cuda12.9.
"""

from __future__ import annotations

import re

from doctor.binaries.elf import ElfError
from doctor.host import Host, HostError
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or

NCCL, TENSORRT = "libnccl.so", "libnvinfer.so"
NCCL_SAYS = b"NCCL version 2."
_TEXT_WITHIN_BYTES = 4 << 20
_LIBS = r"(\w+)-cu(\d{2})-libs"  # NAME-cu12-libs, whose directory is NAME_libs
_SYSTEM = ("/usr/lib/", "/lib/")


def cuda_major_of(host: Host, environment: Environment, name: str, path: Fact[str]) -> Fact[int]:
    """The CUDA major of a file that is loaded by this name; Unseen for what belongs to a CUDA release itself."""
    if isinstance(path, Unseen):
        return path
    if name.startswith(NCCL):
        return _of_nccl(host, path.value)
    if name.startswith(TENSORRT):
        return _of_tensorrt(host, environment, path.value)
    return Unseen(f"{name} is of one CUDA by its own name")


def _of_nccl(host: Host, path: str) -> Fact[int]:
    from doctor.loader.library import text_among_constants  # late: most processes load none

    try:
        text = text_among_constants(host, path, NCCL_SAYS, _TEXT_WITHIN_BYTES)
    except (HostError, ElfError) as error:
        return Unseen(str(error))
    found = re.search(r"(?:\+cuda|CUDA )(\d{1,3})\.", text)
    return (
        Seen(int(found[1]), Place(path, label=f"{path}: {text}"))
        if found
        else Unseen(f"{path} does not say for which CUDA it is")
    )


def _of_tensorrt(host: Host, environment: Environment, path: str) -> Fact[int]:
    named = {}
    for one in value_or(environment.distributions, ()):
        wheel = re.fullmatch(_LIBS, one.name)
        if wheel and not one.hidden_by and path.startswith(f"{one.site}/{wheel[1]}_libs/"):
            named[one.name] = wheel[2]
    if len(named) == 1:
        name, digits = named.popitem()
        return Seen(int(digits), name)
    if path.startswith(_SYSTEM):
        return _by_dpkg(host, path)
    return Unseen(f"no package that was found says for which CUDA {path} is")


def _by_dpkg(host: Host, path: str) -> Fact[int]:
    from doctor.pyenv import dpkg

    try:
        for one in dpkg.installed(host, r"libnvinfer\d+"):
            found = re.search(r"\+cuda(\d{1,3})\.", one.version)
            if found:
                return Seen(int(found[1]), f"{one.name} {one.version}")
    except HostError as error:
        return Unseen(str(error))
    return Unseen(f"dpkg has no package that says for which CUDA {path} is")
