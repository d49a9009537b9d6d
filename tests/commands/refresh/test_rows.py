"""Rows say what the wheels say, and null where these say nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compat.load import as_written
from compat.row import FrameworkRow
from doctor.commands.refresh.framework import PLAIN, Custom, NotTold, joined, read, releases_of
from doctor.commands.refresh.index import Connection, Index
from doctor.commands.refresh.listing import wheels_of
from doctor.commands.refresh.requirements import Platform, cuda_of, needs_of, spelled_out
from doctor.commands.refresh.web import Web
from doctor.model.encode import encode
from tests.commands.refresh.server import torch_wheel, wheel

TODAY = "2030-01-02"
LINUX = Platform("linux", "x86_64")


def rows_of(folder: Path, project: str, custom: Custom = PLAIN) -> list[dict[str, Any]]:
    index = Index.of(str(folder), "test", is_flat=True)
    web = Web(Connection((index,), has_default=True))
    wheels, _ = wheels_of(project, [index], web)
    found = [read(release, web, TODAY, custom) for release in releases_of(project, wheels)]
    assert all(isinstance(row, FrameworkRow) for row in found), found
    return [as_written(row, encode(row)) for row in joined(row for row in found if isinstance(row, FrameworkRow))]


def test_torch(tmp_path: Path) -> None:
    for python in ("cp311", "cp312", "cp313", "cp313t"):
        torch_wheel(tmp_path, "99.0.0", python=python)
    assert rows_of(tmp_path, "torch") == [
        {
            "id": "torch-99.0.0-cu128",
            "package": "torch",
            "versions": "==99.0.0",
            "build": "cu128",
            "os": ["linux"],
            "arch": ["x86_64"],
            "python": ["3.11", "3.12", "3.13", "3.13t"],
            "cuda": "==12.8",
            "cudnn": "9.10.2.21",
            "cudnn_accepts": ">=9.10,<10",
            "libraries": "wheels",
            "targets": ["sm_80", "sm_90", "sm_120", "compute_120"],
            "glibc": "2.28",
            "pins": {
                "nvidia-cuda-runtime-cu12": "==12.8.90",
                "nvidia-cudnn-cu12": "==9.10.2.21",
                "cuda-bindings": "<14,>=13.0.3",
                "triton": "==3.9.0",
            },
            "source": "torch-99.0.0-cp313-cp313-manylinux_2_28_x86_64.whl: torch/version.py, METADATA, "
            "torch/lib/libtorch_python.so",
            "read_on": TODAY,
            "confidence": "high",
            "note": "",
        }
    ]


def test_builds_by_local_version(tmp_path: Path) -> None:
    torch_wheel(tmp_path, "99.0.0", local="+cu128")
    torch_wheel(tmp_path, "99.0.0", local="+cpu", tag="cpu")
    cpu, gpu = rows_of(tmp_path, "torch")
    assert (gpu["id"], gpu["build"], gpu["versions"]) == ("torch-99.0.0-cu128", "cu128", "==99.0.0")
    assert (cpu["id"], cpu["cuda"], cpu["targets"], cpu["pins"]) == ("torch-99.0.0-cpu", "", [], {})


def tensorflow(folder: Path, platform: str, *, is_cuda: bool) -> None:
    info = f'build_info = collections.OrderedDict([("cuda_version", "12.5.1"), ("is_cuda_build", {is_cuda})])'
    requires = (
        "numpy",
        'nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"',
        'nvidia-cuda-runtime-cu12==12.5.82; extra == "and-cuda"',
        'tensorflow-rocm==1; extra == "rocm"',
    )
    wheel(
        folder,
        f"tensorflow-99.0.0-cp312-cp312-{platform}.whl",
        {
            "tensorflow/python/platform/build_info.py": info
            if is_cuda
            else info.replace('("cuda_version", "12.5.1"), ', "")
        },
        requires,
    )


def test_tensorflow_takes_libraries_of_an_extra(tmp_path: Path) -> None:
    tensorflow(tmp_path, "manylinux_2_17_x86_64.manylinux2014_x86_64", is_cuda=True)
    tensorflow(tmp_path, "win_amd64", is_cuda=False)
    linux, windows = rows_of(tmp_path, "tensorflow", Custom(names_builds=False))
    assert (linux["id"], linux["build"]) == ("tensorflow-99.0.0", "")
    assert (linux["cuda"], linux["cudnn_accepts"], linux["libraries"]) == (">=12.5,<13", "<10.0,>=9.3.0.75", "wheels")
    assert linux["pins"] == {"nvidia-cudnn-cu12": "<10.0,>=9.3.0.75", "nvidia-cuda-runtime-cu12": "==12.5.82"}
    assert linux["note"] == "libraries of the and-cuda extra; without it, the system's libraries"
    assert (windows["id"], windows["build"], windows["pins"]) == ("tensorflow-99.0.0-cpu-windows", "cpu", {})
    assert windows["note"] == ""


def test_tensorflow_2_3_for_windows_writes_a_dict(tmp_path: Path) -> None:
    said = "'cuda_version': '64_101', 'cudnn_version': '64_7', 'cuda_compute_capabilities': ['sm_35', 'compute_70']"
    info = {"tensorflow/python/platform/build_info.py": f"build_info = {{{said}, 'is_cuda_build': True}}"}
    wheel(tmp_path, "tensorflow-2.3.9-cp38-cp38-win_amd64.whl", info)
    [row] = rows_of(tmp_path, "tensorflow", Custom(names_builds=False))
    assert (row["cuda"], row["cudnn"], row["targets"]) == (">=10.1,<11", "7", ["sm_35", "sm_70", "compute_70"])


def test_one_row_for_both_machines(tmp_path: Path) -> None:
    for machine in ("x86_64", "aarch64"):
        name = f"jax_cuda12_plugin-99.0.0-cp312-cp312-manylinux_2_27_{machine}.whl"
        wheel(
            tmp_path, name, {}, ("jax-cuda12-pjrt==99.0.0", 'nvidia-cuda-runtime-cu12>=12.1.105; extra == "with-cuda"')
        )
    [row] = rows_of(tmp_path, "jax-cuda12-plugin")
    assert (row["id"], row["arch"], row["cuda"]) == ("jax-cuda12-plugin-99.0.0", ["x86_64", "sbsa"], ">=12.1,<13")
    assert row["source"].count(".whl") == 2


def test_a_package_without_gpu_code(tmp_path: Path) -> None:
    wheel(tmp_path, "numba-99.0-cp312-cp312-manylinux_2_27_x86_64.whl", {"numba/a.py": ""}, ("numpy<9", "llvmlite"))
    [row] = rows_of(tmp_path, "numba", Custom(companions=("numpy",)))
    assert (row["cuda"], row["cudnn_accepts"], row["libraries"], row["targets"]) == (None, None, None, None)
    assert row["pins"] == {"numpy": "<9"}


def test_pure_python(tmp_path: Path) -> None:
    wheel(tmp_path, "jax-99.0-py3-none-any.whl", {"jax/__init__.py": ""}, ("jaxlib<=99.0",))
    [row] = rows_of(tmp_path, "jax")
    assert (row["os"], row["arch"], row["python"], row["glibc"]) == (
        ["linux", "windows", "macos"],
        ["x86_64", "sbsa"],
        None,
        "",
    )
    assert (row["cuda"], row["targets"]) == ("", [])


def test_pure_python_that_runs_on_another(tmp_path: Path) -> None:
    """transformers asks for torch in its extra torch; nvidia-ml-py is no library of CUDA's."""
    requires = ('torch>=2.6; extra == "torch"', 'torch>=9; extra == "all"', 'nvidia-ml-py; extra == "speed"')
    wheel(tmp_path, "zeta-99.0-py3-none-any.whl", {"zeta/__init__.py": ""}, requires, python=">=3.12,<3.14")
    [row] = rows_of(tmp_path, "zeta", Custom(companions=("torch",)))
    assert (row["python"], row["pins"], row["libraries"]) == (["3.12", "3.13"], {"torch": ">=2.6"}, "")


@pytest.mark.parametrize(
    ("members", "expected"),
    [({"onnxruntime/capi/libcudart.so.12": ""}, "bundled"), ({"onnxruntime/capi/x.so": ""}, "system")],
)
def test_libraries(tmp_path: Path, members: dict[str, str | bytes], expected: str) -> None:
    members = {**members, "onnxruntime/capi/libonnxruntime_providers_cuda.so": ""}
    wheel(tmp_path, "onnxruntime_gpu-99.0-cp312-cp312-manylinux_2_28_x86_64.whl", members)
    [row] = rows_of(tmp_path, "onnxruntime-gpu")
    assert (row["libraries"], row["cuda"]) == (expected, None)


def test_what_a_wheel_does_not_tell_makes_no_row(tmp_path: Path) -> None:
    wheel(tmp_path, "torch-99.0.0-cp312-cp312-manylinux_2_28_x86_64.whl", {})
    index = Index.of(str(tmp_path), "test", is_flat=True)
    web = Web(Connection((index,), has_default=True))
    [release] = releases_of("torch", wheels_of("torch", [index], web)[0])
    found = read(release, web, TODAY)
    assert isinstance(found, NotTold)
    assert "version.py" in found.why


@pytest.mark.parametrize(
    ("tag", "platforms"),
    [
        ("manylinux_2_28_x86_64", [("linux", "x86_64")]),
        ("manylinux1_x86_64", [("linux", "x86_64")]),
        ("linux_x86_64", [("linux", "x86_64")]),
        ("musllinux_1_2_x86_64", []),
        ("manylinux_2_28_aarch64", [("linux", "sbsa")]),
        ("linux_aarch64", []),  # of unknown origin, for a Jetson mostly
        ("manylinux_2_28_ppc64le", []),
        ("win_amd64", [("windows", "x86_64")]),
        ("win32", []),
        ("macosx_11_0_arm64", [("macos", "sbsa")]),
        ("macosx_10_9_x86_64", [("macos", "x86_64")]),
        ("any", [("linux", "x86_64")]),
    ],
)
def test_platforms(tmp_path: Path, tag: str, platforms: list[tuple[str, str]]) -> None:
    wheel(tmp_path, f"torch-99.0.0-py3-none-{tag}.whl", {})
    index = Index.of(str(tmp_path), "test", is_flat=True)
    wheels, _ = wheels_of("torch", [index], Web(Connection((index,), has_default=True)))
    assert [tuple(release.platform) for release in releases_of("torch", wheels)] == platforms


@pytest.mark.parametrize(
    ("tags", "glibc"),
    [
        (["manylinux2014_x86_64"], "2.17"),
        (["manylinux1_x86_64", "manylinux2014_x86_64"], "2.5"),  # numba 0.50: an installer takes the one that fits
        (["manylinux_2_27_x86_64", "manylinux_2_17_x86_64.manylinux2014_x86_64"], "2.17"),
    ],
)
def test_glibc_of_wheels_that_are_there_twice(tmp_path: Path, tags: list[str], glibc: str) -> None:
    for tag in tags:
        wheel(tmp_path, f"numba-99.0.0-cp312-cp312-{tag}.whl", {})
    assert [row["glibc"] for row in rows_of(tmp_path, "numba")] == [glibc]


@pytest.mark.parametrize(
    ("lines", "pythons", "pins"),
    [
        ("Requires-Dist: nvidia-nccl-cu12 (==2.1)", ("3.12",), {"nvidia-nccl-cu12": "==2.1"}),
        ("Requires-Dist: triton>=3; python_version < '3.11'", ("3.12",), {}),
        ("Requires-Dist: triton>=3; python_version < '3.11'", ("3.10", "3.12"), {"triton": ">=3"}),
        ("Requires-Dist: triton>=3; platform_machine == 'aarch64'", ("3.12",), {}),
        ("Requires-Dist: triton>=3; sys_platform == 'win32'", ("3.12",), {}),
        ("Requires-Dist: requests>=1\nRequires-Dist: torch", ("3.12",), {"torch": ""}),
        ("Requires-Dist: numpy>=1,<3", ("3.12",), {"numpy": "<3,>=1"}),
        (
            "Requires-Dist: numpy>=1,<3; python_version < '3.12'\nRequires-Dist: numpy>=2,<3; python_version >= '3.12'",
            ("3.11", "3.12"),
            {"numpy": "<3,>=1"},
        ),
        (
            "Requires-Dist: numpy==1.21; python_version < '3.12'\nRequires-Dist: numpy==1.26; python_version >= '3.12'",
            ("3.11", "3.12"),
            {"numpy": "<=1.26,>=1.21"},
        ),
        (
            "Requires-Dist: numpy==1.21; python_version < '3.12'\nRequires-Dist: numpy>=1.26; python_version >= '3.12'",
            ("3.11", "3.12"),
            {},
        ),
        ("Requires-Dist: not @@ a requirement", ("3.12",), {}),
        ("Requires-Dist: triton; nonsense == 'x'", ("3.12",), {}),
        ("Provides-Extra: x\nRequires-Dist: torch>=1; extra == 'x'", ("3.12",), {}),
        ("Provides-Extra: x\nRequires-Dist: cuda-toolkit==12.*; extra == 'x'", (), {"cuda-toolkit": "==12.*"}),
    ],
)
def test_requirements(lines: str, pythons: tuple[str, ...], pins: dict[str, str]) -> None:
    assert needs_of(lines, LINUX, pythons).pins == pins


@pytest.mark.parametrize(
    ("pins", "cuda"),
    [
        ({"cuda-toolkit": "==13.2.2"}, ">=13.2,<14"),
        ({"cuda-toolkit": "==12.*"}, "==12.*"),
        ({"nvidia-cuda-runtime-cu12": ">=12.1.105"}, ">=12.1,<13"),
        ({"nvidia-cuda-runtime": "~=13.0"}, ">=13.0,<14"),
        ({"nvidia-cublas-cu12": "==12.1.3.1"}, None),
        ({"nvidia-cuda-runtime-cu12": "<13"}, None),
    ],
)
def test_cuda_by_the_runtime(pins: dict[str, str], cuda: str | None) -> None:
    assert cuda_of(pins) == cuda


@pytest.mark.parametrize(
    ("specifier", "expected"), [("~=9.0", ">=9,<10"), ("~=9.1", ">=9.1,<10"), (">=9", ">=9"), ("~=9.1.2", "~=9.1.2")]
)
def test_compatible_release(specifier: str, expected: str) -> None:
    assert spelled_out(specifier) == expected


@pytest.mark.parametrize(
    ("asked", "pythons"),
    [(">=3.6, <3.9", ["3.6", "3.7", "3.8"]), (">=3.13", ["3.13", "3.14", "3.15"])],  # DALI up to 1.27 takes 3.6
)
def test_pythons_by_what_the_wheel_requires(tmp_path: Path, asked: str, pythons: list[str]) -> None:
    wheel(tmp_path, "nvidia_dali_cuda110-99.0.0-1-py3-none-manylinux2014_x86_64.whl", {}, python=asked)
    assert [row["python"] for row in rows_of(tmp_path, "nvidia-dali-cuda110")] == [pythons]


@pytest.mark.parametrize(("cuda", "arch"), [("102", "jetson"), ("110", "sbsa")])
def test_arm_before_cuda_11_is_jetson(tmp_path: Path, cuda: str, arch: str) -> None:
    wheel(tmp_path, f"cupy_cuda{cuda}-99.0.0-cp312-cp312-manylinux2014_aarch64.whl", {})
    [row] = rows_of(tmp_path, f"cupy-cuda{cuda}", Custom(names_builds=False))
    assert (row["arch"], row["id"]) == ([arch], f"cupy-cuda{cuda}-99.0.0-{arch}")


def test_a_library_for_each_cuda(tmp_path: Path) -> None:
    files = {f"bitsandbytes/libbitsandbytes_cuda{cuda}.dll": "" for cuda in ("118", "124", "130")}
    wheel(tmp_path, "bitsandbytes-99.0-py3-none-win_amd64.whl", files, ("torch>=2.3",))
    [row] = rows_of(tmp_path, "bitsandbytes")
    assert (row["cuda"], row["os"]) == (">=11.8,<=13.0", ["windows"])
