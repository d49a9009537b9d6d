"""The compiler probe on trees that are laid out as distributions lay compilers out."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.host import Ran
from doctor.host.live import LiveHost
from doctor.host.root import RootHost
from doctor.model.facts.seen import Place, Seen, Unseen
from doctor.model.facts.system import Compiler
from doctor.probes import compiler
from tests.machine import seen, toolkit
from tests.probes.test_toolkit import build

DEBIAN = {
    "/usr/bin/gcc": "-> gcc-12",
    "/usr/bin/gcc-12": "-> x86_64-linux-gnu-gcc-12",
    "/usr/bin/x86_64-linux-gnu-gcc-12": "exe",
    "/usr/lib/gcc/x86_64-linux-gnu/12/cc1": "exe",
}


def look(root: Path, environ: dict[str, str] | None = None, nvcc: str = "") -> dict[str, Compiler]:
    toolkits = seen((toolkit(nvcc=seen(nvcc)),)) if nvcc else None
    found = compiler.look(RootHost(str(root), environ), toolkits).get()
    return {one.path: one for one in found}


@pytest.mark.parametrize(
    ("files", "path", "kind", "version"),
    [
        (DEBIAN, "/usr/bin/gcc", "gcc", "12"),
        ({"/usr/bin/gcc": "-> gcc-4.8", "/usr/bin/gcc-4.8": "exe"}, "/usr/bin/gcc", "gcc", "4.8"),
        ({"/usr/bin/gcc": "exe", "/usr/lib/gcc/x86_64-redhat-linux/14/libgcc.a": ""}, "/usr/bin/gcc", "gcc", "14"),
        (
            {"/usr/bin/gcc": "exe", "/usr/lib/gcc/x86_64-conda-linux-gnu/13.2.0/libgcc.a": ""},
            "/usr/bin/gcc",
            "gcc",
            "13.2.0",
        ),
        (
            {"/usr/bin/clang": "-> ../lib/llvm-14/bin/clang", "/usr/lib/llvm-14/bin/clang": "exe"},
            "/usr/bin/clang",
            "clang",
            "14",
        ),
    ],
)
def test_version_without_running(tmp_path: Path, files: dict[str, str], path: str, kind: str, version: str) -> None:
    found = look(build(tmp_path, files))[path]
    assert (found.kind, found.version.get()) == (kind, version)


@pytest.mark.parametrize(
    "files",
    [
        {"/usr/bin/gcc": "exe"},
        {
            "/usr/bin/gcc": "exe",
            "/usr/lib/gcc/x86_64-redhat-linux/11/cc1": "",
            "/usr/lib/gcc/x86_64-redhat-linux/13/cc1": "",
        },
    ],
)
def test_version_that_only_running_would_tell_is_unseen_on_a_root(tmp_path: Path, files: dict[str, str]) -> None:
    version = look(build(tmp_path, files))["/usr/bin/gcc"].version
    assert isinstance(version, Unseen)
    assert "gcc" in version.why


class _Host(LiveHost):
    """A live machine on which one program answers; everything else is the real file system."""

    def run(self, argv: tuple[str, ...], timeout_s: float = 5.0, env: object = None) -> Ran:
        assert argv[1:] == ("-dumpfullversion", "-dumpversion")
        return Ran(0, "13.3.1\n", "")


def test_version_asked_on_a_live_machine(tmp_path: Path) -> None:
    build(tmp_path, {"/bin/gcc": "exe"})
    (found,) = compiler.look(_Host({"PATH": f"{tmp_path}/bin"})).get()
    assert found.version == Seen("13.3.1", Place(f"{tmp_path}/bin/gcc", label=f"{tmp_path}/bin/gcc -dumpfullversion"))


@pytest.mark.parametrize(
    ("environ", "first", "chosen_by"),
    [
        ({}, "/usr/bin/gcc", "PATH"),
        ({"NVCC_CCBIN": "/usr/bin/gcc-11"}, "/usr/bin/gcc-11", "NVCC_CCBIN"),
        ({"NVCC_CCBIN": "gcc-11"}, "/usr/bin/gcc-11", "NVCC_CCBIN"),
        ({"NVCC_PREPEND_FLAGS": "-O2 -ccbin=/usr/bin/gcc-11"}, "/usr/bin/gcc-11", "NVCC_PREPEND_FLAGS"),
        ({"NVCC_PREPEND_FLAGS": "-ccbin /opt/old"}, "/opt/old/gcc", "NVCC_PREPEND_FLAGS"),
        ({"NVCC_CCBIN": "/not/there"}, "/usr/bin/gcc", "PATH"),
        ({"CC": "gcc-11"}, "/usr/bin/gcc", "PATH"),  # build systems ask it, nvcc does not
    ],
)
def test_what_nvcc_takes_first(tmp_path: Path, environ: dict[str, str], first: str, chosen_by: str) -> None:
    build(tmp_path, {**DEBIAN, "/usr/bin/gcc-11": "exe", "/opt/old/gcc": "-> /usr/bin/gcc-11"})
    found = next(iter(look(tmp_path, environ).values()))
    assert (found.path, found.chosen_by) == (first, chosen_by)


def test_gcc_beside_nvcc_comes_before_path(tmp_path: Path) -> None:
    build(tmp_path, {**DEBIAN, "/opt/cuda/bin/gcc": "-> /usr/bin/gcc-11", "/usr/bin/gcc-11": "exe"})
    found = list(look(tmp_path, nvcc="/opt/cuda/bin/nvcc").values())
    assert [(one.path, one.version.get(), one.chosen_by) for one in found[:2]] == [
        ("/opt/cuda/bin/gcc", "11", "beside nvcc"),
        ("/usr/bin/gcc", "12", "PATH"),
    ]


def test_installed_alternatives_are_listed(tmp_path: Path) -> None:
    build(tmp_path, {**DEBIAN, "/usr/bin/gcc-9": "exe", "/usr/lib/gcc/x86_64-linux-gnu/9/cc1": ""})
    assert look(tmp_path)["/usr/bin/gcc-9"].chosen_by == ""


def test_compiler_cache_is_passed_over(tmp_path: Path) -> None:
    build(tmp_path, {**DEBIAN, "/usr/lib/ccache/gcc": "-> ../../bin/ccache", "/usr/bin/ccache": "exe"})
    assert next(iter(look(tmp_path, {"PATH": "/usr/lib/ccache:/usr/bin"}))) == "/usr/bin/gcc"


def test_msvc_from_its_path(tmp_path: Path) -> None:
    base = "/Program Files/Microsoft Visual Studio/2022/BuildTools/VC/Tools/MSVC"
    build(
        tmp_path,
        {"/Windows/x": "", **{f"{base}/{one}/bin/Hostx64/x64/cl.exe": "exe" for one in ("14.16.27023", "14.39.33519")}},
    )
    found = list(look(tmp_path).values())
    assert [(one.kind, one.version.get()) for one in found] == [("msvc", "1939"), ("msvc", "1916")]


def test_no_compiler_is_something_seen(tmp_path: Path) -> None:
    assert look(build(tmp_path, {"/usr/bin/ls": "exe", "/usr/bin/gcc": "-> gcc"})) == {}
