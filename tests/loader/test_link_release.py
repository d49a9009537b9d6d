"""nvJitLink's release by the functions that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.loader.link_release import releases_of
from tests.lab.elf_file import elf_bytes
from tests.lab.parts import files
from tests.machine import prediction, seen

OWN, OTHER = "/wheel/libnvJitLink.so.12", "/opt/lib/libnvJitLink.so.12"


def _library(*minors: int) -> bytes:
    return elf_bytes("libnvJitLink.so.12", values={f"__nvJitLinkAddData_12_{minor}": 0 for minor in minors})


@pytest.mark.parametrize(
    ("loaded", "releases"),
    [
        (_library(0, 1), ("12.1", "12.10")),
        (_library(), ("", "12.10")),
        (b"\x7fELF", ("", "12.10")),
    ],
)
def test_the_newest_function_counts(loaded: bytes, releases: tuple[str, str], tmp_path: Path) -> None:
    files({OWN: _library(0, 8, 9, 10), OTHER: loaded})(tmp_path)
    one = prediction(OTHER, soname="libnvJitLink.so.12")._replace(intended=seen(OWN))
    assert releases_of(RootHost(str(tmp_path)), one) == releases


@pytest.mark.parametrize(("soname", "path"), [("libnvJitLink.so.12", OWN), ("libcublas.so.12", OTHER)])
def test_nothing_is_read_where_nobody_asks(soname: str, path: str, tmp_path: Path) -> None:
    assert releases_of(RootHost(str(tmp_path)), prediction(path, soname=soname)._replace(intended=seen(OWN))) == (
        "",
        "",
    )


@pytest.mark.parametrize(
    ("beside", "release"),
    [
        (("nvidia_cublas_cu12-12.1.3.1.dist-info",), "12.1.3.1"),
        (("nvidia_cublas_cu12-12.1.3.1.dist-info", "nvidia_cublas_cu11-11.11.3.6.dist-info"), ""),
        (("nvidia_cudnn_cu12-9.1.0.70.dist-info",), ""),
    ],
)
def test_a_wheel_of_another_environment_tells_the_release(
    beside: tuple[str, ...], release: str, tmp_path: Path
) -> None:
    path = "nvidia/cublas/lib/libcublas.so.12"
    files({f"/other/{path}": "", f"/own/{path}": "", **{f"/other/{name}/METADATA": "" for name in beside}})(tmp_path)
    files({"/own/nvidia_cublas_cu12-12.5.3.2.dist-info/METADATA": ""})(tmp_path)
    one = prediction(f"/other/{path}", soname="libcublas.so.12")._replace(intended=seen(f"/own/{path}"))
    assert releases_of(RootHost(str(tmp_path)), one) == (release, "12.5.3.2")
