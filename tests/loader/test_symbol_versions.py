"""Versions of symbols: a library that LD_LIBRARY_PATH puts first and that is too old, made by the system's compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from doctor.binaries.elf import Elf
from doctor.host.root import RootHost
from doctor.loader.process import Process
from doctor.loader.search import Search
from doctor.loader.symbol_versions import lacked_versions
from tests.loader.test_search import facts

COMPILER = shutil.which("gcc") or shutil.which("cc")
VERSIONS = {
    "old": "GLIBCXX_3.4 { global: first; };\n",
    "new": "GLIBCXX_3.4 { global: first; };\nGLIBCXX_3.4.30 { global: second; } GLIBCXX_3.4;\n",
}


def compiled(folder: Path, name: str, code: str, *options: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.c").write_text(code, encoding="utf-8")
    command = [str(COMPILER), "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{name}", "-o", str(folder / name)]
    subprocess.run([*command, str(folder / "a.c"), *options], check=True)
    return folder / name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A framework's library that needs a version of the new libstdc++, and an old and an unversioned one beside."""
    if not COMPILER:
        pytest.skip("it needs a C compiler")
    code = "int first(void) { return 1; } int second(void) { return 2; }"
    for kind, script in VERSIONS.items():
        (tmp_path / f"{kind}.map").write_text(script, encoding="utf-8")
        compiled(tmp_path / kind, "libstdc++.so.6", code, f"-Wl,--version-script={tmp_path / kind}.map")
    compiled(tmp_path / "plain", "libstdc++.so.6", code)
    asks = "int first(void); int second(void); int third(void) { return first() + second(); }"
    compiled(tmp_path / "torch", "libtorch.so", asks, str(tmp_path / "new" / "libstdc++.so.6"))
    return tmp_path


def test_defined_versions(root: Path) -> None:
    found = {}
    for kind in ("old", "new", "plain"):
        with (root / kind / "libstdc++.so.6").open("rb") as stream:
            found[kind] = Elf(stream).defined_versions[1:]
    assert found == {"old": ("GLIBCXX_3.4",), "new": ("GLIBCXX_3.4", "GLIBCXX_3.4.30"), "plain": ()}


@pytest.mark.parametrize(
    ("first", "lacked"),
    [
        ("/old", [("/old/libstdc++.so.6", "/torch/libtorch.so", "GLIBCXX_3.4.30")]),
        ("/new", []),
        ("/plain", []),  # the loader accepts a library without versions
    ],
)
def test_what_the_loader_refuses(root: Path, first: str, lacked: list[tuple[str, str, str]]) -> None:
    host = RootHost(str(root))
    process = Process(host, Search(host, facts(None, first)), "x86_64")
    process.open("/torch/libtorch.so", None)
    found = lacked_versions(host, process)
    assert [(one.library.library.path, one.asker.library.path, one.version) for one in found] == lacked
