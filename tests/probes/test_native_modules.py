"""Compiled modules of packages, as ELF files and lists of files in a tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.model.facts.environment import NativeFault, Unloadable
from doctor.model.facts.seen import Seen, value_or
from doctor.probes import environment, loader, native_modules
from tests.lab.elf_file import elf_bytes
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree

SITE = "v/lib/python3.12/site-packages"
TORCH: Tree = {
    f"{SITE}/torch-2.9.1.dist-info/METADATA": "Name: torch\nRequires-Dist: numpy\nRequires-Dist: plot; extra == 'x'\n",
    f"{SITE}/torch-2.9.1.dist-info/RECORD": "torch/version.py,,\n",
    f"{SITE}/torch/version.py": "__version__ = '2.9.1'\ncuda = '12.8'\n",
}
MACHINE: Tree = {
    "v/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n",
    "v/bin/python": "-> /usr/bin/python3.12",
    "usr/bin/python3.12": elf_bytes(),
    "lib64/ld-linux-x86-64.so.2": b"",
    "usr/lib/x86_64-linux-gnu/libc.so.6": elf_bytes("libc.so.6"),
    "usr/lib/x86_64-linux-gnu/libstdc++.so.6": elf_bytes("libstdc++.so.6"),
}
NUMPY_1, NUMPY_2 = b"\0numpy.core.multiarray failed to import\0", b"\0numpy._core._multiarray_umath\0"


def package(name: str, files: Tree) -> Tree:
    info = f"{SITE}/{name}-1.0.dist-info"
    record = "".join(f"{path},sha256=x,1\n" for path in files)
    return {
        f"{info}/RECORD": record,
        f"{info}/METADATA": "",
        **{f"{SITE}/{path}": text for path, text in files.items()},
    }


def faults(root: Path, *packages: Tree, glibc: str = "2.39", machine: Tree | None = None) -> list[NativeFault]:
    tree: dict[str, Any] = {**MACHINE, **(machine or {}), **TORCH}
    for one in packages:
        tree |= one
    host = PretendHost(root, tree)
    found = native_modules.look(host, environment.look(host, ("/v",)), loader.look(host), Seen(glibc, "test"))
    faulty = found.get()[0].native_faults
    assert faulty is not None
    return [*faulty.get()]


def kinds(found: list[NativeFault]) -> list[tuple[str, Unloadable, str]]:
    return [(one.distribution, one.why, one.what) for one in found]


def test_what_can_be_loaded(tmp_path: Path) -> None:
    whole = package(
        "numpy",
        {
            "numpy/__init__.py": "from . import _core\n",
            "numpy/_core.cpython-312-x86_64-linux-gnu.so": elf_bytes(
                needed=("libz.so.1", "libown-1.so"), rodata=NUMPY_2
            ),
            "numpy/_old.cpython-310-x86_64-linux-gnu.so": elf_bytes(),
            "numpy.libs/libown-1.so": elf_bytes(),
        },
    )
    own = package(
        "plot",
        {
            "plot/__init__.py": "import plot._it\n",
            "plot/_it.abi3.so": elf_bytes(needed=("libq.so",), runpath="$ORIGIN/q"),
        },
    )
    pure = package("pure", {"pure/__init__.py": ""})
    late = package(
        "late",
        {"late/__init__.py": "try:\n    from . import _it\n", "late/_it.so": elf_bytes(needed=("libtbb.so.12",))},
    )
    there = {"usr/lib/x86_64-linux-gnu/libz.so.1": elf_bytes(), f"{SITE}/plot/q/libq.so": elf_bytes()}
    assert faults(tmp_path, whole, own, pure, late, machine=there) == []


@pytest.mark.parametrize(
    ("files", "why", "what"),
    [
        ({"_it.cpython-310-x86_64-linux-gnu.so": elf_bytes()}, Unloadable.PYTHON, "3.10"),
        ({"_it.cpython-312t-x86_64-linux-gnu.so": elf_bytes()}, Unloadable.PYTHON, "3.12t"),
        ({"_it.abi3.so": elf_bytes(machine="aarch64")}, Unloadable.MACHINE, "aarch64"),
        ({"cv2/cv2.abi3.so": elf_bytes(needed=("libGL.so.1",))}, Unloadable.LIBRARY, "libGL.so.1"),
        (
            {"p/__init__.py": "from ._it import *\n", "p/_it.so": elf_bytes(needed=("libGL.so.1",))},
            Unloadable.LIBRARY,
            "libGL.so.1",
        ),
    ],
)
def test_what_cannot(tmp_path: Path, files: Tree, why: Unloadable, what: str) -> None:
    assert kinds(faults(tmp_path, package("plot", files))) == [("plot", why, what)]


@pytest.mark.parametrize(
    ("text", "release", "is_bad"),
    [(NUMPY_1, "2.0.1", True), (NUMPY_1, "1.26.4", False), (NUMPY_1 + NUMPY_2, "2.0.1", False)],
)
def test_numpy(tmp_path: Path, text: bytes, release: str, is_bad: bool) -> None:
    info = f"{SITE}/numpy-{release}.dist-info/RECORD"
    numpy: Tree = {info: "numpy/_it.abi3.so,,\n", f"{SITE}/numpy/_it.abi3.so": elf_bytes()}
    found = faults(tmp_path, numpy, package("plot", {"_plot.abi3.so": elf_bytes(rodata=text)}))
    assert kinds(found) == ([("plot", Unloadable.NUMPY, release)] if is_bad else [])


def test_who_requires_it(tmp_path: Path) -> None:
    bad = {"_it.abi3.so": elf_bytes(machine="aarch64")}
    found = faults(tmp_path, package("numpy", bad), package("plot", {"plot.so": elf_bytes(machine="aarch64")}))
    assert [(one.distribution, one.required_by) for one in found] == [("numpy", ("torch",)), ("plot", ())]


def test_nothing_is_looked_at_without_a_framework(tmp_path: Path) -> None:
    host = PretendHost(tmp_path, {**MACHINE, **package("plot", {"_it.cpython-310-x86_64-linux-gnu.so": elf_bytes()})})
    found = native_modules.look(host, environment.look(host, ("/v",)), loader.look(host), Seen("2.39", "test"))
    assert value_or(found, ())[0].native_faults is None


def test_a_loader_that_searches_elsewhere(tmp_path: Path) -> None:
    """Nix: where not even the C library is found, what is found nowhere is not missing."""
    tree = {**MACHINE, **TORCH, **package("plot", {"_it.so": elf_bytes(needed=("libGL.so.1",))})}
    del tree["usr/lib/x86_64-linux-gnu/libc.so.6"]
    host = PretendHost(tmp_path, tree)
    found = native_modules.look(host, environment.look(host, ("/v",)), loader.look(host), Seen("2.39", "test"))
    assert value_or(found, ())[0].native_faults == Seen((), "RECORD files and the modules' own headers")
