"""PaddlePaddle: paddle/version/__init__.py (paddle/version.py before 2.2, which names no CUDA).

CUDA's runtime is inside; all else is opened with the first use: by the names for linkers, which no wheel of NVIDIA's
has, or, where it requires those wheels, by the paths that paddle/__init__.py names (with_pip_cuda_libraries). Source:
paddle/phi/backends/dynload/dynamic_loader.cc, LD_DEBUG traces of its functions in the wheels 2.5.2 and 2.6.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.version import CodeTarget, CudaVersion, CudnnVersion, VersionError
from doctor.host import Host
from doctor.loader.cards import Card, Loading, cuda_tag, describe
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen, value_or
from doctor.pyenv.metadata import constants_or_why, requires


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """CUDA, cuDNN and code targets by the version module; the word False stands for a CPU build."""
    path = f"{one.site}/paddle/version/__init__.py"
    said, why = constants_or_why(host, path, f"{path} names no CUDA")
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
        return Seen("cpu", Place(path) if text else "name of the distribution"), None
    try:
        cuda = CudaVersion.parse(text)
    except VersionError:
        return Seen("cuda", "name of the distribution"), Unseen(why)
    return Seen(cuda_tag(cuda), Place(path)), Seen(cuda, Place(path))


def _cudnn(said: dict[str, str], path: str, why: str) -> Fact[CudnnVersion]:
    try:
        return Seen(CudnnVersion.parse(said.get("cudnn_version", "")), Place(path))
    except VersionError:
        return Unseen(why)


def _targets(said: dict[str, str], path: str) -> Fact[tuple[CodeTarget, ...]] | None:
    """`compiled_cuda_archs` of 3.x, numbers such as 75 and 90."""
    numbers = re.findall(r"\b\d{2,3}\b", said.get("compiled_cuda_archs", ""))
    return Seen(tuple(CodeTarget.parse(f"sm_{number}") for number in numbers), Place(path)) if numbers else None


_CORES = ("paddle/base/libpaddle.so", "paddle/fluid/libpaddle.so", "paddle/fluid/core_avx.so")
_OPENERS = ("paddle/libs/libphi.so", *_CORES)  # the first that is there has the code that opens CUDA's
_OPENED = tuple(f"lib{name}.so" for name in ("cublas", "cublasLt", "curand", "cusolver", "cusparse", "cufft"))
_BESIDE_THEM = "/usr/local/cuda/lib64/libcudnn.so"  # where cuDNN is looked for where the loader finds none
# Of the wheels that it requires, by the CUDA major: the directory of each, and the SONAME.
_IN_WHEELS = {
    11: (("cublas", "libcublas.so.11"), ("cublas", "libcublasLt.so.11"), ("curand", "libcurand.so.10"),
         ("cusolver", "libcusolver.so.11"), ("cusparse", "libcusparse.so.11")),
    12: (("cublas", "libcublas.so.12"), ("cublas", "libcublasLt.so.12"), ("curand", "libcurand.so.10"),
         ("cusolver", "libcusolver.so.11"), ("cusparse", "libcusparse.so.12")),
}  # fmt: skip


def steps(package: Package) -> Iterator[Step]:
    """The import of its core, then what it opens by a name, or by a wheel's path and then the name; UnseenError."""
    framework = package.framework
    yield Step(next((found for path in _CORES if (found := package.files(path))), ()), "import paddle", needed=True)
    asker = next((path for path in _OPENERS if package.files(path)), _OPENERS[0]).rpartition("/")[2]
    opened: tuple[tuple[str, ...], ...] = (*((name,) for name in _OPENED), ("libcudnn.so", _BESIDE_THEM))
    if any(one.startswith("nvidia-") for one in framework.requires.get()):
        cuda, cudnn = value_or(framework.cuda, None), value_or(framework.cudnn, None)
        told = (
            *_IN_WHEELS.get(cuda.major if cuda else 0, ()),
            *([("cudnn", f"libcudnn.so.{cudnn.major}")] if cudnn else ()),
        )
        opened = tuple((f"{package.site}/nvidia/{folder}/lib/{name}", name) for folder, name in told)
    for names in opened:
        yield Step(names, "PaddlePaddle opens it by its name", asker, use=True)


CARD = Card(
    ("paddlepaddle", "paddlepaddle-gpu"),
    read,
    loading=Loading(steps),
    speakers=("paddlepaddle-gpu",),
    kernels=("libs/libphi.so", "base/libpaddle.so"),  # 2.6
    cudnn_in=("libs",),  # up to 2.4
    proof="import paddle; paddle.utils.run_check()",
)
