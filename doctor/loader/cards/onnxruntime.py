"""ONNX Runtime: capi/build_and_package_info.py and the provider libraries beside it.

A session opens the CUDA provider by its path; that names what it needs, and no place for it. The provider of older
wheels names nothing: capi/_ld_preload.py opens it before. Source: onnxruntime/__init__.py of 1.22.0 (preload_dlls), the
libraries of 1.14.1, 1.20.1, 1.22.0, 1.23.2 and 1.31.1, _ld_preload.py of 1.14.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.version import CudaVersion, VersionError
from doctor.host import Host, HostError
from doctor.loader.cards import Card, Dlls, Loading, cudnn_said, describe
from doctor.loader.steps import CTYPES, Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.metadata import constants_or_why, requires

_PROVIDERS = {"cuda": "cuda", "rocm": "rocm", "openvino": "openvino"}


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """The build by the provider libraries that are there, CUDA by the package's own information (from 1.21 on)."""
    folder = f"{one.site}/onnxruntime/capi"
    path = f"{folder}/build_and_package_info.py"
    said, why = constants_or_why(host, path, f"{path} does not say it")
    build = _build(host, folder, one)
    has_cuda = getattr(build, "value", "cuda") == "cuda"
    return describe(
        one,
        environment,
        "onnxruntime",
        build=build,
        requires=requires(host, one),
        cuda=_cuda(said, path, why) if has_cuda else None,
        cudnn=cudnn_said(said.get("cudnn_version", ""), path, why) if has_cuda else None,
        note=_note(said, one),
    )


def _build(host: Host, folder: str, one: Distribution) -> Fact[str]:
    try:
        names = host.names(folder)
    except HostError as error:
        return Unseen(str(error))
    for provider, build in _PROVIDERS.items():
        for name in (f"libonnxruntime_providers_{provider}.so", f"onnxruntime_providers_{provider}.dll"):
            if name in names:
                return Seen(build, Place(f"{folder}/{name}"))
    if "DirectML.dll" in names:
        return Seen("directml", Place(f"{folder}/DirectML.dll"))
    if one.name == "onnxruntime-gpu" and "onnxruntime_providers_shared.dll" not in names:
        # before 1.8 the CUDA provider was part of the main library
        old = not any("providers_shared" in name for name in names)
        return Seen("cuda", "name of the distribution") if old else Seen("cpu", f"no CUDA provider in {folder}")
    return Seen("cpu", f"no GPU provider in {folder}")


def _cuda(said: dict[str, str], path: str, why: str) -> Fact[CudaVersion]:
    text = said.get("cuda_version", "")
    try:
        return Seen(CudaVersion.parse(text), Place(path)) if text else Unseen(why)
    except VersionError as error:
        return Unseen(f"{path}: {error}")


def _note(said: dict[str, str], one: Distribution) -> str:
    owner = said.get("package_name", "").replace("_", "-").lower()
    if owner and owner != one.name:
        return f"the files in its directory are those of {owner}"
    return ""


# What its process opens

_CAPI = "onnxruntime/capi"


def steps(package: Package) -> Iterator[Step]:
    """The import opens nothing of CUDA's, or by `_ld_preload.py` what its provider takes functions from."""
    yield Step(package.files(f"{_CAPI}/onnxruntime_pybind11_state.*.so"), "import onnxruntime", needed=True)
    preloaded = re.findall(r'CDLL\("(\S+?)"', package.text(f"{_CAPI}/_ld_preload.py").partition("except OSError")[0])
    for name in preloaded:
        yield Step((name,), "import onnxruntime opens it by its nameand continues without it", CTYPES, use=True)
    shared = package.files(f"{_CAPI}/libonnxruntime_providers_shared.so")
    yield Step(shared, "a session with a GPU provider opens it", use=True)
    provider = package.files(f"{_CAPI}/libonnxruntime_providers_cuda.so")
    yield Step(provider, "a session with CUDAExecutionProvider opens it", use=True, needed=True)
    # Up to 1.23 the provider names cuDNN among what it needs, and none is asked for here.
    names, mapped = ("libcudnn.so.9", "libcudnn.so"), ("libcudnn.so.9", "libcudnn.so.8")
    asker = "libonnxruntime_providers_cuda"
    if not preloaded:
        yield Step(names, "the provider opens it by its name", asker, use=True, unless_mapped=mapped)
    tensorrt = package.files(f"{_CAPI}/libonnxruntime_providers_tensorrt.so")
    yield Step(tensorrt, "a session with TensorrtExecutionProvider opens it", use=True, optional=True)


CARD = Card(
    ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-training", "onnxruntime-rocm",
     "onnxruntime-openvino"),
    read,
    loading=Loading(
        steps,
        note="onnxruntime.preload_dlls(), where a program calls it first (from 1.21 on), opens the wheels' libraries "
        "by path",
    ),
    kernels=("capi/libonnxruntime_providers_cuda.so",),
    dlls=Dlls(("capi/onnxruntime_providers_cuda.dll",), uses_environment=False),
)  # fmt: skip
