"""TensorFlow: tensorflow/python/platform/build_info.py, whose form changed over the years.

Its libraries name none of CUDA's; those are opened by name, by libtensorflow_framework.so.2. Source: tensorflow/tsl
`dso_loader.cc` (the names), LD_DEBUG traces of 2.18.0; the search path of its wheels names nvidia/*/lib from 2.14 on.
The files of 1.15, 2.0 and 2.1 are in tensorflow_core, `tensorflow` being a module that leads there; their build_info.py
writes CUDA 10.0 as "10" and 10.1 as "10.1" (wheels tensorflow-gpu 1.15.5, 2.0.0, 2.1.0, whose libtensorflow_framework
has the text "10.0" or "10.1" that it makes the names with).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from compat.version import CodeTarget, CudaVersion, CudnnVersion, VersionError
from doctor.host import Host, HostError
from doctor.loader.cards import Card, Dlls, Loading, cudnn_said, describe
from doctor.loader.code_tools import xla_tools
from doctor.loader.steps import Package, Step
from doctor.model.facts.environment import Distribution, Framework
from doctor.model.facts.seen import Fact, Place, Seen, Unseen
from doctor.pyenv.metadata import constants, requires, start_of

_BYTES = 64 << 10
_CORE = "tensorflow_core"


def read(host: Host, one: Distribution, environment: str) -> Framework:
    """CUDA, cuDNN and code targets by build_info.py; by the distribution's name where that file is too old."""
    module = _CORE if host.is_dir(f"{one.site}/{_CORE}/python") else "tensorflow"
    path = f"{one.site}/{module}/python/platform/build_info.py"
    try:
        said = _said(host, path)
        why = f"{path} does not say it"
    except HostError as error:
        said, why = {}, str(error)
    build = _build(said, path, one, why)
    has_cuda = getattr(build, "value", "cuda") == "cuda"
    return describe(
        one,
        environment,
        module,
        build=build,
        requires=requires(host, one),
        cuda=_cuda(said, path, why) if has_cuda else None,
        cudnn=_cudnn(said, path, why) if has_cuda else None,
        targets=_targets(said, path, why) if has_cuda else None,
    )


def _said(host: Host, path: str) -> dict[str, str]:
    """The pairs of `build_info` (2.3 on, there a dict) over the module's constants (before); raises HostError."""
    said = constants(host, path)
    pairs = re.finditer(
        r"""["'](\w+)["']\s*[,:]\s*(?:["']([^"'\n]*)["']|(True|False)|(\[[^\]\n]*\]))\s*(?=[,)}])""",
        start_of(host, path, _BYTES),
    )
    for name, text, flag, items in (match.groups() for match in pairs):
        said[name] = next((value for value in (text, flag, items) if value is not None), "")
    return said


def _build(said: dict[str, str], path: str, one: Distribution, why: str) -> Fact[str]:
    if "is_cuda_build" in said or "is_rocm_build" in said:
        if said.get("is_rocm_build") == "True":
            return Seen("rocm", Place(path))
        return Seen("cuda" if said.get("is_cuda_build") == "True" else "cpu", Place(path))
    if "cuda_version_number" in said or "cudart_dll_name" in said:
        return Seen("cuda", Place(path))
    # Up to 1.12 there is no such file on Linux; the CPU and the GPU build had names of their own.
    if "-cpu" in one.name or one.name == "tensorflow-intel":
        return Seen("cpu", "name of the distribution")
    return Seen("cuda", "name of the distribution") if one.name.endswith("-gpu") else Unseen(why)


def _digits(text: str) -> str:
    """Builds for Windows write "64_112", the ending of the DLL's name, for 11.2, and "64_8" for cuDNN 8."""
    return text.removeprefix("64_")


def _cuda(said: dict[str, str], path: str, why: str) -> Fact[CudaVersion]:
    text = _digits(said.get("cuda_version") or said.get("cuda_version_number", ""))
    text = f"{text}.0" if text == "10" and f"/{_CORE}/" in path else text
    if not text:
        return Unseen(why)
    try:
        dotted = "." in text or len(text) < 2 or text in {"10", "11", "12", "13"}
        return Seen(CudaVersion.parse(text) if dotted else CudaVersion.from_tag(f"cu{text}"), Place(path))
    except VersionError:
        return Unseen(f"{path} says CUDA {text}, without a minor version")


def _cudnn(said: dict[str, str], path: str, why: str) -> Fact[CudnnVersion]:
    return cudnn_said(_digits(said.get("cudnn_version") or said.get("cudnn_version_number", "")), path, why)


def _targets(said: dict[str, str], path: str, why: str) -> Fact[tuple[CodeTarget, ...]]:
    """Its "compute_80" is machine code and PTX: so in the libraries of 2.3.4 to 2.21.0, for Windows of 2.8 to 2.10."""
    names = re.findall(r"(?:sm|compute)_\w+", said.get("cuda_compute_capabilities", ""))
    both = ((f"sm_{one[8:]}", one) if one.startswith("compute_") else (one,) for one in names)
    try:
        found = tuple(map(CodeTarget.parse, dict.fromkeys(chain.from_iterable(both))))
    except VersionError as error:
        return Unseen(f"{path}: {error}")
    return Seen(found, Place(path)) if found else Unseen(why)


# What its process opens

_FRAMEWORK = (
    "tensorflow/libtensorflow_framework.so.2",
    "tensorflow/libtensorflow_framework.so.1",
    "tensorflow_core/libtensorflow_framework.so.1",
    "tensorflow_core/libtensorflow_framework.so.2",
    "tensorflow/libtensorflow_framework.so",
)
_OTHERS = ("tensorflow/python/_pywrap_tensorflow_internal.so", f"{_CORE}/python/_pywrap_tensorflow_internal.so",
           "tensorflow/libtensorflow_cc.so.2")  # fmt: skip
# By the CUDA that a release was built with; the endings are the SONAMEs of CUDA's own libraries.
_CUDA_10_0 = tuple(f"lib{name}.so.10.0" for name in ("cudart", "cublas", "cufft", "curand", "cusolver", "cusparse"))
_NAMES = {
    "10": ("libcudart.so.10.{minor}", "libcublas.so.10", "libcufft.so.10", "libcurand.so.10", "libcusolver.so.10",
           "libcusparse.so.10"),
    "11": ("libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.11", "libcufft.so.10", "libcusolver.so.11",
           "libcusparse.so.11"),
    "11.0": ("libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.11", "libcufft.so.10", "libcurand.so.10",
             "libcusolver.so.10", "libcusparse.so.11"),
    "12": ("libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11", "libcusolver.so.11",
           "libcusparse.so.12"),
}  # fmt: skip


def steps(package: Package) -> Iterator[Step]:
    """The import opens the driver and the runtime; the rest comes with the first look for GPUs, if there are any."""
    main = next((found for path in _FRAMEWORK if (found := package.files(path))), ())
    yield Step(main, "TensorFlow's own core library", needed=True)
    for pattern in _OTHERS:
        yield Step(package.files(pattern), "import tensorflow")
    asker = "libtensorflow_framework.so"
    yield Step(("libcuda.so.1",), "TensorFlow opens the driver by its name", asker)
    cuda, cudnn = package.framework.cuda, package.framework.cudnn
    names: tuple[str, ...] = ()
    if isinstance(cuda, Seen):
        names = _CUDA_10_0 if cuda.value == CudaVersion(10, 0) else _NAMES.get(str(cuda.value.major), ())
        names = _NAMES.get(str(cuda.value), names)
        names = tuple(name.format(minor=cuda.value.minor) for name in names)
    if isinstance(cudnn, Seen):
        names = (*names, f"libcudnn.so.{cudnn.value.major}")
    for name in names:
        yield Step((name,), "TensorFlow opens it by its name", asker, use=not name.startswith("libcudart"))


# The same on Windows, by the CUDA of build_info.py: CUDA 11's runtime ends with "64_110", also where that file says
# "cudart64_112.dll" (the texts in _pywrap_tensorflow_internal.pyd of 2.3.4, 2.4.4, 2.5.3 and 2.10.1).
_DLLS = {
    "10.0": ("cudart64_100", "cublas64_100", "cufft64_100", "curand64_100", "cusolver64_100", "cusparse64_100"),
    "10.1": ("cudart64_101", "cublas64_10", "cufft64_10", "curand64_10", "cusolver64_10", "cusparse64_10"),
    "11.0": ("cudart64_110", "cublas64_11", "cublasLt64_11", "cufft64_10", "curand64_10", "cusolver64_10",
             "cusparse64_11"),
    "11.2": ("cudart64_110", "cublas64_11", "cublasLt64_11", "cufft64_10", "curand64_10", "cusolver64_11",
             "cusparse64_11"),
}  # fmt: skip


def dlls(framework: Framework) -> tuple[str, ...]:
    """What it opens on Windows; cuDNN alone where its CUDA is not known, or is another."""
    cuda, cudnn = framework.cuda, framework.cudnn
    names = _DLLS.get(str(cuda.value), ()) if isinstance(cuda, Seen) else ()
    own = (f"cudnn64_{cudnn.value.major}",) if isinstance(cudnn, Seen) else ()
    return tuple(f"{name}.dll" for name in (*names, *own))


CARD = Card(
    (
        "tensorflow",
        "tensorflow-gpu",
        "tensorflow-cpu",
        "tensorflow-intel",
        "tensorflow-rocm",
        "tensorflow-macos",
        "tensorflow-cpu-aws",
        "tf-nightly",
        "tf-nightly-gpu",
        "tf-nightly-cpu",
    ),
    read,
    loading=Loading(steps),
    dlls=Dlls(("python/_pywrap_tensorflow_internal.pyd",), uses_path=False, opens=dlls),
    tools=xla_tools,
    proof="from tensorflow.python.client import device_lib as d; "  # of its releases 1 and 2
    'assert [one for one in d.list_local_devices() if one.device_type == "GPU"]',
)
