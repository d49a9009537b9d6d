"""CuPy: the distribution's name, cupy/.data/_wheel.json, and one extension module for each of CUDA's libraries.

Each module names its library; wheels have no search path of their own. From 14 on, `cuda.pathfinder` opens the
library before its module is imported. NCCL and cuTENSOR are optional, and part of no CUDA release. Source:
cupy/_environment.py of 12.3.0, 13.6.0 and 14.2.0 (_preload_library: cuDNN, NCCL and cuTENSOR, from ~/.cupy/cuda_lib,
then by the full name), cupy_backends/cuda/_softlink.pyx (NVRTC by its name), cupy_backends/cuda/libs/__init__.py and
cupy/cuda/__init__.py of 14.2.0, and the modules of all three.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compat.version import CudaVersion, CudnnVersion, VersionError
from doctor.host import Host, HostError
from doctor.host.documents import parse_json
from doctor.loader import pathfinder
from doctor.loader.cards import Card, Loading, describe
from doctor.loader.steps import CTYPES, Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.metadata import requires

_BYTES = 64 << 10


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The build by the name (cupy-cuda112, cupy-cuda12x, cupy-rocm-5-0), cuDNN by the wheel's own record."""
    tag = re.fullmatch(r"cupy-(cuda(\d+)x?|rocm-(\d+)-(\d+))", one.name)
    where = "name of the distribution"
    if not tag:  # built from source or by conda
        why = f"{one.name} {one.version} does not say which CUDA it was built with"
        return describe(one, environment, "cupy", build=Seen("cuda", where), requires=requires(host, one),
                        cuda=Unseen(why), cudnn=Unseen(why))  # fmt: skip
    if tag[3]:
        rocm = Seen(f"rocm{tag[3]}.{tag[4]}", where)
        return describe(one, environment, "cupy", build=rocm, requires=requires(host, one))
    return describe(
        one,
        environment,
        "cupy",
        build=Seen("cuda", where),
        requires=requires(host, one),
        cuda=_cuda(one, tag[1], tag[2]),
        cudnn=_cudnn(host, one),
    )


def _cuda(one: Distribution, tag: str, digits: str) -> Fact[CudaVersion]:
    if tag.endswith("x"):
        return Unseen(f"{one.name} {one.version} is built for every CUDA {digits}.x")
    return Seen(CudaVersion.from_tag(f"cu{digits}"), "name of the distribution")


def _cudnn(host: Host, one: Distribution) -> Fact[CudnnVersion]:
    """The release in _wheel.json (9 to 13), the copy inside older wheels; CuPy 14 has no cuDNN any more."""
    path = f"{one.site}/cupy/.data/_wheel.json"
    try:
        said: Any = parse_json(host.read_text(path, _BYTES))
        return Seen(CudnnVersion.parse(said["cudnn"]["version"]), Place(path))
    except HostError:
        return _carried(host, one)
    except (ValueError, LookupError, TypeError, AttributeError, VersionError):
        return Unseen(f"{path} names no cuDNN")


def _carried(host: Host, one: Distribution) -> Fact[CudnnVersion]:
    folder = f"{one.site}/cupy/.data/lib"
    try:
        names = host.names(folder)
    except HostError as error:
        return Unseen(str(error))
    for name in names:
        found = re.fullmatch(r"libcudnn\.so\.(\d{1,2}(?:\.\d{1,3}){0,3})", name)
        if found:
            return Seen(CudnnVersion.parse(found[1]), Place(f"{folder}/{name}"))
    return Unseen(f"{folder} has no cuDNN")


# What its process opens

_BACKENDS = "cupy_backends/cuda"
_LIBRARIES = ("cublas", "curand", "cusolver", "cusparse", "nvrtc", "nccl", "cudnn")
_PRELOADED = ("nccl", "cudnn")  # before their module is imported
_OPTIONAL = ("nccl", "cutensor")


def steps(package: Package) -> Iterator[Step]:
    """The import opens nothing of CUDA's; each module is imported where its functions are first called."""
    for api in ("driver", "runtime"):
        yield Step(package.files(f"{_BACKENDS}/api/{api}.*.so"), "import cupy")
    name = package.framework.package
    major = name[9:11] if name.startswith("cupy-cuda") else ""
    if major in {"12", "13"}:
        yield Step(("libcuda.so.1",), "CUDA's runtime, which CuPy has inside, opens the driver", "runtime.", use=True)
    if "cuda.pathfinder" in package.text("cupy/_environment.py"):
        yield from _by_pathfinder(package)
        return
    if major in {"12", "13"}:
        yield Step((f"libnvrtc.so.{major}",), "CuPy opens NVRTC by its name", CTYPES, use=True)
    config = _config(package)
    for library in _LIBRARIES:
        if library in _PRELOADED:
            yield from _preload(package, config, library)
        yield _module(package, library)
    yield _module(package, "cufft")


def _by_pathfinder(package: Package) -> Iterator[Step]:
    config = _config(package)
    for library in ("nvrtc", "cublas", "curand", "cusolver", "cusparse", "cufft", *_OPTIONAL):
        optional = library in _OPTIONAL
        yield from pathfinder.steps(package, library, f"cuda.pathfinder opens {library} for CuPy", optional=optional)
        if library == "nccl":
            yield from _preload(package, config, library)
        yield _module(package, library)


def _module(package: Package, library: str) -> Step:
    folder = "cupy/cuda" if library == "cufft" else f"{_BACKENDS}/libs"
    module = package.files(f"{folder}/{library}.*.so")
    return Step(module, f"CuPy imports its module for {library}", use=True, optional=library in _OPTIONAL)


def _preload(package: Package, config: Any, library: str) -> Iterator[Step]:
    """Each file of the release that the wheel was made with, from CuPy's own folder or by its full name."""
    try:
        wanted = config[library]
        names, version = [str(name) for name in wanted["filenames"]], str(wanted["version"])
        cuda = str(config["cuda"])
    except (LookupError, TypeError):
        return
    root = (
        package.host.environ.get("CUPY_CUDA_LIB_PATH", "") or f"{package.host.environ.get('HOME', '')}/.cupy/cuda_lib"
    )
    for name in names:
        places = [f"{root}/{cuda}/{library}/{version}/{folder}/{name}" for folder in ("lib", "lib64")]
        if library == "nccl":
            places = [*package.anywhere("nvidia/nccl/lib/libnccl.so.2"), *places]
        there = tuple(path for path in places if package.host.is_file(path))
        why = f"CuPy opens the release of {library} that it was made with"
        mapped = (f"lib{library}.so.2",) if library == "nccl" else ()
        yield Step((*there, name), why, CTYPES, use=True, optional=True, unless_mapped=mapped)


def _config(package: Package) -> Any:
    try:
        return parse_json(package.text("cupy/.data/_wheel.json"))
    except ValueError:
        return {}


CARD = Card(
    ("cupy", "cupy-cuda*", "cupy-rocm*"),
    read,
    loading=Loading(steps),
    cudnn_in=(".data/lib", "_lib"),
    proof="import cupy; print(cupy.ones(2).sum())",
)
