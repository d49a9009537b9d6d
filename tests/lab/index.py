"""The small package index of the lab: wheels for Linux as the machines of the lab have them, and what a resolver takes.

Wheels for Windows are in `index_windows.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from compat.matrix import Matrix, Uncovered, accepts
from compat.spec import Spec
from installers.requirement import exact_version
from tests.lab import cudnn_tree, index_windows, parts
from tests.lab.cases.extensions import torchcodec
from tests.lab.cases.frameworks import CUPY, PLUGIN
from tests.lab.cases.healthy import TRITON
from tests.lab.cases.known import ONNX
from tests.lab.cases.libraries import FINDING
from tests.lab.cases.other_cuda import nccl
from tests.lab.cases.speech import ctranslate2
from tests.lab.elf_file import elf_bytes

MATRIX = Matrix()
_FOLLOWERS = {"torchvision": {"2.9.1": "0.24.1"}, "torchaudio": {"2.9.1": "2.9.1"}}  # by the torch that they go with


class NotCarriedOut(Exception):
    """The lab has no such thing; the message says what."""


def following(spec: Spec, place: Path) -> Spec:
    """What a resolver takes of a follower of torch, which is there: its release and build for that torch."""
    if spec.name not in _FOLLOWERS:
        return spec
    found = re.search(r"__version__ = '([\d.]+)\+(\w+)'", (place / "torch/version.py").read_text())
    if not found or found[1] not in _FOLLOWERS[spec.name]:
        raise NotCarriedOut(f"the lab's index has no {spec.name} for this torch")
    return spec._replace(versions=f"=={_FOLLOWERS[spec.name][found[1]]}", build=found[2])


_ON_INDEX = {"torchcodec": ("0.9.1",), "nvidia-cuda-nvcc-cu12": ("12.8.93", "12.9.86"), "tensorflow": ("2.10.1",)}


def newest(spec: Spec) -> str:
    """What the lab has of a range: of cuDNN the newest that it can lay, of ONNX Runtime the newest with a row."""
    found = [*_ON_INDEX.get(spec.name, ())]
    if spec.name == "onnxruntime-gpu":
        rows = [row.versions.lstrip("=").removesuffix(".*") for row in MATRIX.rows(spec.name, "builds")]
        found = [f"{one}.0" if one.count(".") == 1 else one for one in rows if re.fullmatch(r"[\d.]+", one)]
    if re.fullmatch(r"nvidia-cudnn-cu\d+", spec.name):
        known = [str(one) for row in MATRIX.rows("cudnn", "releases") for one in row.full_versions]
        found = [one for one in known if cudnn_tree.numbers_of(one)[0] in cudnn_tree.PARTS]
    return max((one for one in found if accepts(spec.versions, one)), key=cudnn_tree.numbers_of, default="")


_EXTRAS = {"tensorflow": "tensorflow", "onnxruntime-gpu": "onnxruntime-gpu", "jax": "jax-cuda12-plugin"}


def extra(spec: Spec, version: str) -> Mapping[str, str]:
    """What an extra for CUDA brings: NVIDIA's wheels that a package requires; raises NotCarriedOut for another."""
    if not spec.extras:
        return {}
    asking = _EXTRAS.get(spec.name)
    if asking is None:
        raise NotCarriedOut(f"the lab's index does not know the extra of {spec}")
    own = {} if asking == spec.name else {asking: f"=={version}"}
    pins = _row(asking, version).pins or {}
    return {**own, **{name: pin for name, pin in pins.items() if name.startswith("nvidia-")}}


Wheel = tuple[parts.Part, Mapping[str, str]]


def wheel(spec: Spec, version: str, site: str) -> Wheel:
    """What the lab's index has under a name, and what that requires; raises NotCarriedOut."""
    if site.startswith("C:"):
        if spec.name not in index_windows.WHEELS:
            raise NotCarriedOut(f"the lab's index has no wheel of {spec} for Windows")
        return index_windows.WHEELS[spec.name](version, site.removeprefix("C:")), {}
    made = next((make for name, make in _WHEELS.items() if re.fullmatch(name, spec.name)), None)
    found = made and made(spec.name, version, site)
    if not found:
        raise NotCarriedOut(f"the lab's index has no wheel of {spec}")
    return found


def _cudnn(name: str, version: str, site: str) -> Wheel | None:
    if not version or cudnn_tree.numbers_of(version)[0] not in cudnn_tree.PARTS:
        return None
    return parts.cudnn_wheel(version, int(name.rpartition("-cu")[2]), site=site), {}


def _torch(name: str, version: str, site: str) -> Wheel | None:
    if not version:
        return None
    row = _row("torch", version)
    pins = {name: pin for name, pin in (row.pins or {}).items() if name.startswith("nvidia-cudnn")}
    pin = next(iter(pins.values()), f"=={row.cudnn}")
    return parts.torch(version, exact_version(pin), site=site, pinned=bool(pins)), pins


def _libraries(name: str, version: str, site: str) -> Wheel | None:
    """One of NVIDIA's, with the libraries that the matrix says it holds."""
    sonames = [row.soname for row in MATRIX.rows("libraries", "sonames") if row.wheel == name]
    folder, _, major = name.removeprefix("nvidia-").rpartition("-cu")
    tree = {f"nvidia/{folder.replace('-', '_')}/lib/{one}": elf_bytes(one) for one in sonames}
    return (parts.package(name, version or f"{major}.8.0", tree, site=site), {}) if sonames else None


def _jax(name: str, version: str, site: str) -> Wheel:
    pins = {} if name.endswith("-pjrt") else _row(name, version).pins or {}
    needs = {one: pin for one, pin in pins.items() if one in {"jaxlib", "jax-cuda12-pjrt"}}
    tree: dict[str, parts.Tree] = {
        "jax": {"jax/__init__.py": ""},
        "jaxlib": {"jaxlib/version.py": f"__version__ = '{version}'\n", "jaxlib/plugin_support.py": ""},
        "jax-cuda12-plugin": {"jax_cuda12_plugin/__init__.py": ""},
        "jax-cuda12-pjrt": {one: PLUGIN[one] for one in PLUGIN if one.startswith("jax_plugins/")},
    }
    requires = tuple(f"{one}{pin}" for one, pin in needs.items())
    return parts.package(name, version, tree[name], requires=requires, site=site), needs


def _follower(name: str, version: str, site: str) -> Wheel | None:
    tree: parts.Tree = {f"{name}/version.py": f"__version__ = '{version}'\n"}
    return (parts.package(name, version, tree, site=site), {}) if version else None


def _nvcc(version: str) -> parts.Tree:
    """Up to 12.8 with an __init__.py, which JAX 0.4.35 takes for granted."""
    folder = "nvidia/cuda_nvcc"
    own: parts.Tree = {f"{folder}/__init__.py": ""} if version.startswith("12.8") else {}
    return {**own, f"{folder}/bin/ptxas": parts.ptxas(version), f"{folder}/{parts.LIBDEVICE}": b"BC"}


def _holding(
    tree: Callable[[str], Mapping[str, str | bytes]], usual: str = ""
) -> Callable[[str, str, str], Wheel | None]:
    """A wheel that requires nothing, of `usual` where no release is asked for."""

    def made(name: str, version: str, site: str) -> Wheel | None:
        version = version or usual
        return (parts.package(name, version, tree(version), site=site), {}) if version else None

    return made


_PROVIDER: parts.Tree = {"onnxruntime/capi/libonnxruntime_providers_cuda.so": elf_bytes(needed=("libcudnn.so.9",))}
_CUPTI: parts.Tree = {"nvidia/cuda_cupti/lib/libcupti.so.12": elf_bytes("libcupti.so.12")}
_NVSHMEM: parts.Tree = {"nvidia/nvshmem/lib/libnvshmem_host.so.3": elf_bytes("libnvshmem_host.so.3")}
_WHEELS: Mapping[str, Callable[[str, str, str], Wheel | None]] = {  # by the whole name, a regular expression
    r"nvidia-cudnn-cu\d+": _cudnn,
    "torch": _torch,
    "tensorflow": _holding(lambda version: _tensorflow(_row("tensorflow", version))),
    "nvidia-cuda-cupti-cu12": _holding(lambda _: _CUPTI, "12.9.79"),
    "nvidia-nvshmem-cu12": _holding(lambda _: _NVSHMEM, "3.4.5"),
    "nvidia-nccl-cu12": _holding(lambda _: {"nvidia/nccl/lib/libnccl.so.2": nccl("12.9")}, "2.27.5"),
    "nvidia-cuda-nvcc-cu12": _holding(_nvcc, "12.9.86"),
    "nvidia-.*-cu1[12]": _libraries,
    "numpy": _holding(lambda _: {"numpy/__init__.py": ""}, "1.26.4"),
    "torchvision|torchaudio": _follower,
    "onnxruntime-gpu": _holding(lambda _: {**ONNX, **_PROVIDER}),
    r"cupy-cuda\w+": _holding(lambda _: CUPY),
    "ctranslate2": lambda _, version, site: (ctranslate2(version), {}) if version else None,
    "triton": _holding(lambda _: TRITON),
    "torchcodec": lambda _, version, site: (torchcodec(version), {}) if version else None,
    "jax(lib|-cuda12-plugin|-cuda12-pjrt)?": _jax,
}


def _tensorflow(row: Any) -> parts.Tree:
    """The published build, as its row has it."""
    cuda, cudnn = (re.findall(r"[\d.]+", str(text))[0] for text in (row.cuda, row.cudnn))
    targets = ", ".join(f'"{one}"' for one in row.targets)
    told = f'("cuda_version", "{cuda}"), ("cudnn_version", "{cudnn.partition(".")[0]}"), ("is_cuda_build", True)'
    said = f'build_info = dict([{told}, ("cuda_compute_capabilities", [{targets}])])\n'
    return {**FINDING, "tensorflow/python/platform/build_info.py": said}


def _row(name: str, version: str) -> Any:
    release, _, build = version.partition("+")
    try:
        return next(row for row in MATRIX.framework_rows(name, release) if row.build == build and "linux" in row.os)
    except (Uncovered, StopIteration) as error:
        raise NotCarriedOut(f"no row of the matrix says what {name} {version} brings") from error
