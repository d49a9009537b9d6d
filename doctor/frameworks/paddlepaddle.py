"""PaddlePaddle: paddle/version/__init__.py (paddle/version.py before 2.2, which names no CUDA)."""

from __future__ import annotations

import re

from compat.version import CodeTarget, CudaVersion, CudnnVersion, VersionError
from doctor.facts.environment import Distribution, Framework
from doctor.facts.seen import Fact, Seen, Unseen
from doctor.frameworks import Card, cuda_tag, describe
from doctor.host import Host, HostError
from doctor.probes.metadata import constants, requires


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """CUDA, cuDNN and code targets by the version module; the word False stands for a CPU build."""
    path = f"{one.site}/paddle/version/__init__.py"
    try:
        said = constants(host, path)
        why = f"{path} names no CUDA"
    except HostError as error:
        said, why = {}, str(error)
    build, cuda = _build(said, path, one, why)
    is_cpu = getattr(build, "value", "") == "cpu"
    return describe(
        one,
        environment,
        "paddle",
        build=build,
        requires=requires(host, one),
        cuda=cuda,
        cudnn=None if is_cpu else _cudnn(said, path, why),
        targets=None if is_cpu else _targets(said, path),
    )


def _build(said: dict[str, str], path: str, one: Distribution, why: str) -> tuple[Fact[str], Fact[CudaVersion] | None]:
    text = said.get("cuda_version", "")
    if text == "False" or (not text and one.name == "paddlepaddle"):
        return Seen("cpu", path if text else "name of the distribution"), None
    try:
        cuda = CudaVersion.parse(text)
    except VersionError:
        return Seen("cuda", "name of the distribution"), Unseen(why)
    return Seen(cuda_tag(cuda), path), Seen(cuda, path)


def _cudnn(said: dict[str, str], path: str, why: str) -> Fact[CudnnVersion]:
    try:
        return Seen(CudnnVersion.parse(said.get("cudnn_version", "")), path)
    except VersionError:
        return Unseen(why)


def _targets(said: dict[str, str], path: str) -> Fact[tuple[CodeTarget, ...]] | None:
    """`compiled_cuda_archs` of 3.x, numbers such as 75 and 90."""
    numbers = re.findall(r"\b\d{2,3}\b", said.get("compiled_cuda_archs", ""))
    return Seen(tuple(CodeTarget.parse(f"sm_{number}") for number in numbers), path) if numbers else None


CARD = Card(
    ("paddlepaddle", "paddlepaddle-gpu"),
    read,
    kernels=("libs/libphi.so", "base/libpaddle.so"),  # 2.6
    cudnn_in=("libs",),  # up to 2.4
)
