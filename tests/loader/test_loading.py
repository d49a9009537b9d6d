"""What each framework's package opens: the steps that are read from its files, and how steps are taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat.version import CudaVersion, CudnnVersion
from doctor.host.root import RootHost
from doctor.loader.cards import loading_of
from doctor.loader.implicit_dlopens import habits
from doctor.loader.steps import Package, Step
from doctor.loader.tokens import Values, directories
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.seen import Seen, Unseen, UnseenError
from tests.lab.elf_file import elf_bytes

SITE = "/site"


def package(root: Path, name: str, files: dict[str, str], **facts: Any) -> Package:
    for path, content in files.items():
        there = root / SITE[1:] / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(elf_bytes(there.name) if content == "elf" else content.encode())
    nothing = Unseen("test")
    framework = Framework(
        name, "1.0", f"{SITE}/{name.partition('-')[0]}", nothing, nothing, nothing, nothing, nothing, "/venv", ""
    )._replace(**facts)
    environment = Environment(
        "/venv", "test", "", "venv", nothing, Seen((SITE,), "test"), nothing, nothing, nothing, externally_managed=False
    )
    return Package(RootHost(str(root)), framework, environment)


def steps(one: Package) -> list[Step]:
    found = loading_of(one.framework.package)
    assert found is not None
    return list(found.steps(one))


@pytest.mark.parametrize(
    ("distribution", "known"),
    [
        ("torch", True), ("tensorflow-gpu", True), ("tf-nightly", True), ("jax-cuda12-plugin", True),
        ("jax-cuda12-pjrt", False), ("jax", False), ("onnxruntime-gpu", True), ("cupy-cuda12x", True),
        ("triton", False),
    ],
)  # fmt: skip
def test_which_distributions_are_known(distribution: str, known: bool) -> None:
    assert (loading_of(distribution) is not None) is known


def test_jax_is_read_from_its_plugin(tmp_path: Path) -> None:
    folder = "jax_plugins/xla_cuda12"
    text = (
        'def f():\n  _load("cudnn", ["libcudnn.so.9"])\n  _load("cublas", ["libcublas.so.12", "libcublasLt.so.12"])\n'
    )
    files = {
        f"{folder}/__init__.py": text,
        f"{folder}/xla_cuda_plugin.so": "elf",
        "nvidia/cudnn/lib/libcudnn.so.9": "elf",
    }
    found = steps(package(tmp_path, "jax-cuda12-plugin", files))
    assert [one.opens for one in found[:4]] == [
        (f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9",), (), (), (f"{SITE}/{folder}/xla_cuda_plugin.so",),
    ]  # fmt: skip
    assert ("libcusparse.so.12",) in [one.opens for one in found if one.asker == "xla_cuda_plugin.so"]


_OLD = """
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
{more}
    except OSError as err:
        cuda_libs: Dict[str, str] = {{
            'cublas': 'libcublas.so.*[0-9]',
            'cudnn': 'libcudnn.so.*[0-9]',
        }}
"""
_NEW = """
            if "nvidia/cuda_runtime/lib/libcudart.so" not in _maps:
                return
            _preload_cuda_deps("cuda_nvrtc", "libnvrtc.so.*[0-9]")
"""


@pytest.mark.parametrize(("more", "beside"), [("", []), (_NEW, ["nvidia/cuda_runtime/lib/libcudart.so"])])
def test_torch_is_read_from_its_init(tmp_path: Path, more: str, beside: list[str]) -> None:
    files = {
        "torch/__init__.py": _OLD.format(more=more),
        "torch/lib/libtorch_global_deps.so": "elf",
        "nvidia/cublas/lib/libcublas.so.12": "elf",
        "nvidia/cuda_nvrtc/lib/libnvrtc.so.12": "elf",
    }
    found = steps(package(tmp_path, "torch", files, cuda=Seen(CudaVersion(12, 8), "test")))
    repairs = [one.opens for one in found if one.on_failure]
    assert repairs == [(f"{SITE}/nvidia/cublas/lib/libcublas.so.12",), ()]
    assert [one.if_mapped for one in found if one.if_mapped] == beside
    assert next(one for one in found if one.repaired).opens == (f"{SITE}/torch/lib/libtorch_global_deps.so",)


_LISTED = """
def _preload_cuda_lib(lib_folder, lib_name, required=True):
    ctypes.CDLL(lib_path)

def _preload_cuda_deps(err=None):
    cuda_libs: list[tuple[str, str]] = [
        ("cublas", "libcublasLt.so.*[0-9]"),
        ("cublas", "libcublas.so.*[0-9]"),
        ("cudnn", "libcudnn.so.*[0-9]"),
        ("cufile", "libcufile.so.*[0-9]"),
        ("nccl", "libnccl.so.*[0-9]"),
    ]
    _preload_cuda_lib("nvtx", "libnvToolsExt.so.*[0-9]", required=False)

def _load_global_deps():
    try:
        ctypes.CDLL(global_deps_lib_path, mode=ctypes.RTLD_GLOBAL)
        if "libcudart.so" not in _maps:
            return
        _preload_cuda_deps()
    except OSError as err:
        _preload_cuda_deps(err)
"""


def test_torch_2_10_opens_every_wheel_by_its_file(tmp_path: Path) -> None:
    """In either case, in its order, up to the first that is required and not there."""
    wheels = {f"nvidia/cu13/lib/lib{name}.so.13": "elf" for name in ("cublas", "cublasLt", "nccl")}
    files = {"torch/__init__.py": _LISTED, **wheels, "nvidia/cudnn/lib/libcudnn.so.9": "elf"}
    found = steps(package(tmp_path, "torch", files, cuda=Seen(CudaVersion(13, 0), "test")))
    order = [
        (f"{SITE}/nvidia/cu13/lib/libcublasLt.so.13",),
        (f"{SITE}/nvidia/cu13/lib/libcublas.so.13",),
        (f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9",),
    ]
    assert [one.opens for one in found if one.on_failure] == order
    assert [one.opens for one in found if one.if_mapped == "libcudart.so" and one.unless_repaired] == order


def test_a_torch_that_opens_libraries_in_an_unknown_way_is_unknown(tmp_path: Path) -> None:
    one = package(
        tmp_path, "torch", {"torch/__init__.py": "def _preload_cuda_deps(err=None):\n    load_all(LIBRARIES)\n"}
    )
    with pytest.raises(UnseenError, match="written in a way that is not known"):
        steps(one)


@pytest.mark.parametrize(
    ("cuda", "expected"),
    [
        (CudaVersion(12, 5), {"libcudart.so.12", "libcufft.so.11", "libcudnn.so.9"}),
        (CudaVersion(11, 8), {"libcudart.so.11.0", "libcufft.so.10", "libcudnn.so.9"}),
        (CudaVersion(11, 0), {"libcusolver.so.10", "libcurand.so.10", "libcublasLt.so.11"}),
        (CudaVersion(10, 1), {"libcudart.so.10.1", "libcublas.so.10", "libcudnn.so.9"}),
    ],
)
def test_tensorflow_names_what_its_cuda_names(tmp_path: Path, cuda: CudaVersion, expected: set[str]) -> None:
    one = package(tmp_path, "tensorflow", {}, cuda=Seen(cuda, "test"), cudnn=Seen(CudnnVersion((9,)), "test"))
    names = {name for step in steps(one) for name in step.opens}
    assert expected <= names
    assert "libcuda.so.1" in names


def test_cupy_prefers_the_release_that_it_was_made_with(tmp_path: Path) -> None:
    config = {"cuda": "12.x", "cudnn": {"version": "8.8.1", "filenames": ["libcudnn.so.8.8.1"]}}
    files = {"cupy/.data/_wheel.json": json.dumps(config)}
    found = [one for one in steps(package(tmp_path, "cupy-cuda12x", files)) if "libcudnn.so.8.8.1" in one.opens]
    assert [(one.optional, one.asker) for one in found] == [(True, "_ctypes")]


@pytest.mark.parametrize("damage", ["", "[", '"text"', '{"cudnn": 3}', '{"cudnn": {"filenames": 3, "version": 1}}'])
def test_a_damaged_record_of_cupy_is_none(tmp_path: Path, damage: str) -> None:
    assert steps(package(tmp_path, "cupy-cuda12x", {"cupy/.data/_wheel.json": damage}))


@pytest.mark.parametrize(
    ("library", "release", "first"),
    [
        ("libcudnn.so.9", "9.10.2", ("libcudnn_graph.so.9.10.2", "libcudnn_graph.so.9.10", "libcudnn_graph.so.9")),
        ("libcudnn.so.9", "", ("libcudnn_graph.so.9",)),
        ("libcudnn.so.8", "", ("libcudnn_ops_infer.so.8",)),
        ("libcudart.so.12", "", ("libcuda.so.1",)),
        ("libz.so.1", "", None),
    ],
)
def test_habits(library: str, release: str, first: tuple[str, ...] | None) -> None:
    assert next((one.names for one in habits(library, release, "12")), None) == first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$ORIGIN/../b:${ORIGIN}/c/", ["/o/../b", "/o/c"]),
        ("", ["/here"]),
        ("/a:", ["/a", "/here"]),
        ("/$LIB:/${LIB}x", ["/lib64", "/lib64x"]),
        ("/$PLATFORM/x", []),
        ("/$ORIGINAL:/$:/${LIB:/", ["/$ORIGINAL", "/$", "/${LIB", "/"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert [folder for folder, _ in directories(text, "/o", Values("lib64", ""), "/here")] == expected


def test_cupy_14_asks_pathfinder_first(tmp_path: Path) -> None:
    """A wheel's library by its path, with what it needs before it; NCCL may be missing."""
    files = {
        "cupy/_environment.py": "from cuda.pathfinder import load_nvidia_dynamic_lib\n",
        "nvidia/cublas/lib/libcublas.so.12": "elf",
        "nvidia/cu13/lib/libcufft.so.12": "elf",
        "nvidia/cufft/lib/libcufft.so.11": "elf",
    }
    found = steps(package(tmp_path, "cupy-cuda12x", files))
    opened = {name: one for one in found for name in one.opens}
    order = [name for one in found for name in one.opens]
    assert order.index("libcublasLt.so.12") < order.index("/site/nvidia/cublas/lib/libcublas.so.12")
    assert opened["/site/nvidia/cublas/lib/libcublas.so.12"].unless_mapped == ("libcublas.so.13", "libcublas.so.12")
    assert "/site/nvidia/cu13/lib/libcufft.so.12" in opened
    assert "/site/nvidia/cufft/lib/libcufft.so.11" not in opened
    assert opened["libnccl.so.2"].optional
    assert not opened["libnvrtc.so.12"].optional


_PRELOAD = """from ctypes import CDLL, RTLD_GLOBAL
try:
    _libcublas = CDLL("libcublas.so.11", mode=RTLD_GLOBAL)
    _libcudnn = CDLL("libcudnn.so.8", mode=RTLD_GLOBAL)
except OSError:
    _libnvinfer = CDLL("libnvinfer.so.8", mode=RTLD_GLOBAL)
"""


@pytest.mark.parametrize(("preload", "cudnn"), [(_PRELOAD, "libcudnn.so.8"), ("", "libcudnn.so.9")])
def test_an_old_onnxruntime_opens_what_its_provider_does_not_name(tmp_path: Path, preload: str, cudnn: str) -> None:
    one = package(tmp_path, "onnxruntime-gpu", {"onnxruntime/capi/_ld_preload.py": preload})
    names = [step.opens[0] for step in steps(one) if step.opens and "/" not in step.opens[0]]
    assert names == (["libcublas.so.11", cudnn] if preload else [cudnn])


@pytest.mark.parametrize(
    ("release", "name"), [("0.4.28", "libcudnn.so.8"), ("0.4.29", "libcudnn.so.9"), ("0.10.1", "libcudnn.so.9")]
)
def test_the_cudnn_of_jax_is_of_the_major_that_its_release_is_for(tmp_path: Path, release: str, name: str) -> None:
    files = {"jax_plugins/xla_cuda12/xla_cuda_plugin.so": "", "jax_plugins/xla_cuda12/__init__.py": ""}
    found = steps(package(tmp_path, "jax-cuda12-plugin", files, version=release))
    assert [one.opens[0] for one in found if "cudnn" in one.opens[0]] == [name]
