"""The start of an environment's interpreter, from real programs and links."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from doctor.host.root import RootHost
from doctor.model.facts.environment import CannotStart, InterpreterStart
from doctor.model.facts.seen import Seen, Unseen
from doctor.probes import interpreter
from doctor.pyenv.prefixes import locate
from tests.lab.elf_file import elf_bytes
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, offline

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="a program for Linux on x86-64"
)
LOADER, MUSL = b"/lib64/ld-linux-x86-64.so.2", b"/lib/ld-musl-x86_64.so.1\0\0\0"
CFG = "home = /usr/bin\nversion = 3.12.4\n"
VENV: Tree = {
    "v/pyvenv.cfg": CFG,
    "v/bin/python": "-> python3",
    "v/bin/python3": "-> /usr/bin/python3.12",
    "v/lib/python3.12/site-packages/": "",
    LOADER.decode(): b"",
}


@pytest.fixture(scope="module")
def program() -> bytes:
    """A program that glibc's loader starts."""
    content = Path(os.path.realpath("/bin/sh")).read_bytes()
    if content.count(LOADER + b"\0") != 1:
        pytest.skip("the shell of this system is no such program")
    return content


def start(root: Path, tree: Tree) -> InterpreterStart:
    host = PretendHost(root, tree)
    found = interpreter.look(host, locate(host, "/v"))
    assert isinstance(found, Seen), found
    return found.value


def test_a_program_of_this_system(tmp_path: Path, program: bytes) -> None:
    found = start(tmp_path, {**VENV, "usr/bin/python3.12": program})
    assert found.fault is None
    assert found.path == "/usr/bin/python3.12"
    assert found.machine == "x86_64"
    assert found.glibc.startswith("2.")


def test_a_loader_beside_its_own_c_library(tmp_path: Path, program: bytes) -> None:
    """Nix: the version of the system's glibc does not matter."""
    own = b"/nix/store/ld-linux-x86.so\0"
    found = start(
        tmp_path, {**VENV, "usr/bin/python3.12": program.replace(LOADER, own), own[:-1].decode().lstrip("/"): b""}
    )
    assert (found.fault, found.glibc) == (None, "")


@pytest.mark.parametrize(
    ("changes", "fault", "what"),
    [
        ({"v/bin/python3": "-> /opt/python3.12"}, CannotStart.LINK, "/opt/python3.12"),
        (
            {"usr/bin/python3.12": elf_bytes(needed=("libpython3.12.so.1.0",))},
            CannotStart.LIBRARY,
            "libpython3.12.so.1.0",
        ),
        (
            {
                "usr/bin/python3.12": elf_bytes(needed=("libpython3.12.so.1.0",), runpath="$ORIGIN/../own:/opt"),
                "usr/own/libpython3.12.so.1.0": elf_bytes(machine="aarch64"),
                "opt/libpython3.12.so.1.0": elf_bytes(machine="aarch64"),
            },
            CannotStart.LIBRARY,
            "libpython3.12.so.1.0",
        ),
        ({"usr/bin/python3.13": elf_bytes(), "v/bin/python3": "-> /usr/bin/python3.13"}, CannotStart.MINOR, "3.13"),
    ],
)
def test_faults(tmp_path: Path, changes: Tree, fault: CannotStart, what: str) -> None:
    found = start(tmp_path, {**VENV, "usr/bin/python3.12": elf_bytes(), **changes})
    assert (found.fault, found.what) == (fault, what)


def test_a_program_for_musl(tmp_path: Path, program: bytes) -> None:
    found = start(tmp_path, {**VENV, "usr/bin/python3.12": program.replace(LOADER, MUSL)})
    assert (found.fault, found.what) == (CannotStart.LOADER, "/lib/ld-musl-x86_64.so.1")


def test_no_program_at_all(tmp_path: Path) -> None:
    found = start(tmp_path, {"v/pyvenv.cfg": CFG, "v/lib/python3.12/site-packages/": ""})
    assert found.fault is CannotStart.ABSENT


def test_what_is_no_fault(tmp_path: Path) -> None:
    own = "usr/lib/libpython3.12.so.1.0"
    linked = elf_bytes(needed=("libpython3.12.so.1.0",), runpath="$ORIGIN/../lib")
    found = start(tmp_path / "library", {**VENV, "usr/bin/python3.12": linked, own: elf_bytes()})
    assert found.fault is None
    assert start(tmp_path / "script", {**VENV, "usr/bin/python3.12": "#!/bin/sh\n"}) == InterpreterStart(
        "/usr/bin/python3.12", header="/usr/include/python3.12/Python.h"
    )
    both = {**VENV, "v/bin/python3": "-> /usr/bin/python3.13", "usr/bin/python3.13": elf_bytes()}
    assert start(tmp_path / "both", {**both, "v/lib/python3.13/site-packages/": ""}).fault is None


def test_what_cannot_be_judged(tmp_path: Path) -> None:
    """A root may lack the disk with the Python; a file that is no program is not judged."""
    for folder, changes in (("link", {"v/bin/python3": "-> /opt/python3.12"}), ("file", {"usr/bin/python3.12": b"MZ"})):
        host: RootHost = offline(tmp_path / folder, {**VENV, "usr/bin/python3.12": elf_bytes(), **changes})
        assert isinstance(interpreter.look(host, locate(host, "/v")), Unseen)


def test_packages_without_an_interpreter(tmp_path: Path) -> None:
    """~/.local of `pip install --user` has none."""
    host = offline(tmp_path, {"home/.local/lib/python3.12/site-packages/": ""})
    assert interpreter.look(host, locate(host, "/home/.local")) is None
