"""The rules of ld.so, case by case: what is predicted is what the real loader of this machine then does."""

from __future__ import annotations

import _ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from doctor.host.live import LiveHost
from doctor.loader.cache import whole_cache
from doctor.loader.library import read_program
from doctor.loader.process import CannotOpen, Process
from doctor.loader.search import Search
from doctor.probes import loader
from tests.lab.elf_file import elf_bytes

MACHINE = platform.machine()
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or MACHINE != "x86_64" or not Path("/lib64/ld-linux-x86-64.so.2").exists(),
    reason="needs the loader of glibc on x86-64",
)


class Lib(NamedTuple):
    """A library to lay; without a SONAME of its own it has that of its file name."""

    needed: tuple[str, ...] = ()
    rpath: str = ""
    runpath: str = ""
    soname: str = ""
    machine: str = MACHINE
    flags_1: int = 0


class Tree(NamedTuple):
    """What lies there, the variables, and what a program opens by ctypes; "@" is the test's directory."""

    files: Mapping[str, Lib | bytes | str]  # bytes: a file with that content; text: a link; "dir": a directory
    opens: tuple[str, ...]
    environ: Mapping[str, str] = {}
    mapped: str = ""  # of the library that the case is about, so that the table can be read: "b/libx.so"


X, NEEDS_X = Lib(), ("libx.so",)
EMPTY = "\0"  # a text that ends where it begins
NODEFLIB = 0x800  # DF_1_NODEFLIB
SYSTEM = ("libresolv.so.2",)  # glibc's, in a default directory and in the cache; Python loads it only for sockets
TREES = {
    "RPATH": Tree({"a/libq.so": Lib(NEEDS_X, rpath="@/b"), "b/libx.so": X}, ("@/a/libq.so",), {}, "b/libx.so"),
    "RUNPATH": Tree({"a/libq.so": Lib(NEEDS_X, runpath="@/b"), "b/libx.so": X}, ("@/a/libq.so",), {}, "b/libx.so"),
    "RPATH before LD_LIBRARY_PATH": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b"), "b/libx.so": X, "c/libx.so": X},
        ("@/a/libq.so",), {"LD_LIBRARY_PATH": "@/c"}, "b/libx.so",
    ),
    "LD_LIBRARY_PATH before RUNPATH": Tree(
        {"a/libq.so": Lib(NEEDS_X, runpath="@/b"), "b/libx.so": X, "c/libx.so": X},
        ("@/a/libq.so",), {"LD_LIBRARY_PATH": "@/c"}, "c/libx.so",
    ),
    "a RUNPATH switches the RPATH beside it off": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b", runpath="@/c"), "b/libx.so": X, "c/libx.so": X},
        ("@/a/libq.so",), {"LD_LIBRARY_PATH": "@/d"}, "c/libx.so",
    ),
    "an empty RUNPATH switches the RPATH beside it off too": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b", runpath=EMPTY), "b/libx.so": X}, ("@/a/libq.so",)
    ),
    "an asker with an empty RUNPATH inherits no RPATH": Tree(
        {"a/libq.so": Lib(("libm.so",), rpath="@/b"), "b/libm.so": Lib(NEEDS_X, runpath=EMPTY), "b/libx.so": X},
        ("@/a/libq.so",),
    ),
    "$ORIGIN_x is no token": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="$ORIGIN_x:$ORIGIN/../c"), "a_x/libx.so": X, "c/libx.so": X},
        ("@/a/libq.so",), {}, "c/libx.so",
    ),
    "a library of the system": Tree({"a/libq.so": Lib(SYSTEM)}, ("@/a/libq.so",), {}, "a/libq.so"),
    "no default directories": Tree({"a/libq.so": Lib(SYSTEM, flags_1=NODEFLIB)}, ("@/a/libq.so",)),
    "the same directory twice": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="$ORIGIN/../b:@/a/../b"), "b/libx.so": X}, ("@/a/libq.so",), {}, "b/libx.so"
    ),
    "RPATH is inherited": Tree(
        {"a/libq.so": Lib(("libm.so",), rpath="@/b"), "b/libm.so": Lib(NEEDS_X), "b/libx.so": X, "c/libx.so": X},
        ("@/a/libq.so",), {"LD_LIBRARY_PATH": "@/c"}, "b/libx.so",
    ),
    "RUNPATH is not inherited": Tree(
        {"a/libq.so": Lib(("libm.so",), runpath="@/b"), "b/libm.so": Lib(NEEDS_X), "b/libx.so": X},
        ("@/a/libq.so",),
    ),
    "an asker with a RUNPATH inherits no RPATH": Tree(
        {"a/libq.so": Lib(("libm.so",), rpath="@/b"), "b/libm.so": Lib(NEEDS_X, runpath="@/d"), "b/libx.so": X},
        ("@/a/libq.so",),
    ),
    "RPATH is inherited through one with a RUNPATH": Tree(
        {
            "a/libq.so": Lib(("libm.so",), rpath="@/b"),
            "b/libm.so": Lib(("libn.so",), runpath="@/d"),
            "d/libn.so": Lib(NEEDS_X),
            "b/libx.so": X,
        },
        ("@/a/libq.so",), {}, "b/libx.so",
    ),
    "what a path opens inherits nothing": Tree(
        {"a/libq.so": Lib(("@/d/libm.so",), rpath="@/b"), "d/libm.so": Lib(NEEDS_X), "b/libx.so": X},
        ("@/a/libq.so",), {}, "b/libx.so",
    ),
    "$ORIGIN": Tree(
        {"a/libq.so": Lib(NEEDS_X, runpath="$ORIGIN/../b"), "b/libx.so": X}, ("@/a/libq.so",), {}, "b/libx.so"
    ),
    "${ORIGIN}": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="${ORIGIN}/../b"), "b/libx.so": X}, ("@/a/libq.so",), {}, "b/libx.so"
    ),
    "$ORIGINAL is no token": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="$ORIGINAL"), "b/libx.so": X, "a/libx.so": X}, ("@/a/libq.so",)
    ),
    "$ORIGIN is where the link lies": Tree(
        {"a/libq.so": Lib(NEEDS_X, runpath="$ORIGIN"), "a/libx.so": X, "l/libq.so": "@/a/libq.so", "l/libx.so": X},
        ("@/l/libq.so",), {}, "l/libx.so",
    ),
    "$ORIGIN below a link to a directory": Tree(
        {"a/libq.so": Lib(NEEDS_X, runpath="$ORIGIN/../b"), "b/libx.so": X, "deep/l": "@/a", "deep/b/libx.so": X},
        ("@/deep/l/libq.so",), {}, "b/libx.so",
    ),
    "$LIB": Tree(
        {
            "a/libq.so": Lib(NEEDS_X, rpath="@/$LIB"),
            "lib/x86_64-linux-gnu/libx.so": X, "lib64/libx.so": X, "lib/libx.so": X,
        },
        ("@/a/libq.so",),
    ),
    "$PLATFORM": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/$PLATFORM"), "x86_64/libx.so": X, "haswell/libx.so": X}, ("@/a/libq.so",)
    ),
    "a library for another machine is passed over": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"), "b/libx.so": Lib(machine="aarch64"), "c/libx.so": X},
        ("@/a/libq.so",), {}, "c/libx.so",
    ),
    "one of another class is passed over": Tree(
        {
            "a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"),
            "b/libx.so": elf_bytes("libx.so", machine="i386", bits=32),
            "c/libx.so": X,
        },
        ("@/a/libq.so",), {}, "c/libx.so",
    ),
    "one for the x32 ABI, of the same machine, is passed over": Tree(
        {
            "a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"),
            "b/libx.so": elf_bytes("libx.so", machine="x86_64", bits=32),
            "c/libx.so": X,
        },
        ("@/a/libq.so",), {}, "c/libx.so",
    ),
    "a damaged file ends the search": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"), "b/libx.so": b"no library" * 50, "c/libx.so": X}, ("@/a/libq.so",)
    ),
    "an empty file ends the search": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"), "b/libx.so": b"", "c/libx.so": X}, ("@/a/libq.so",)
    ),
    "a directory of that name ends the search": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"), "b/libx.so": "dir", "c/libx.so": X}, ("@/a/libq.so",)
    ),
    "a link to nothing is passed over": Tree(
        {"a/libq.so": Lib(NEEDS_X, rpath="@/b:@/c"), "b/libx.so": "@/gone", "c/libx.so": X},
        ("@/a/libq.so",), {}, "c/libx.so",
    ),
    "a SONAME that is loaded is taken": Tree(
        {"b/libx.so": X, "c/libx.so": X, "a/libq.so": Lib(NEEDS_X, rpath="@/c")},
        ("@/b/libx.so", "@/a/libq.so"), {}, "b/libx.so",
    ),
    "the SONAME counts, not the file's name": Tree(
        {
            "b/other.so": Lib(soname="libx.so"), "c/libx.so": X, "a/libq.so": Lib(("libx.so", "other.so"), rpath="@/c"),
            "c/other.so": X,
        },
        ("@/b/other.so", "@/a/libq.so"), {}, "b/other.so",
    ),
    "one file under two names is one library": Tree(
        {"b/libx.so": X, "c/liby.so": "@/b/libx.so", "a/libq.so": Lib(("liby.so", "libx.so"), rpath="@/c")},
        ("@/a/libq.so",), {}, "b/libx.so",
    ),
    "a dlopen that fails leaves nothing behind": Tree(
        {"a/libq.so": Lib(("libx.so", "libgone.so"), rpath="@/b"), "b/libx.so": X}, ("@/a/libq.so",)
    ),
    "breadth first: the first asker decides": Tree(
        {
            "a/libq.so": Lib(("libm.so", "libn.so"), rpath="@/b"),
            "b/libm.so": Lib(("libo.so",), runpath="@/b"), "b/libn.so": Lib(NEEDS_X, runpath="@/c"),
            "b/libo.so": Lib(NEEDS_X, runpath="@/d"), "c/libx.so": X, "d/libx.so": X,
        },
        ("@/a/libq.so",), {}, "c/libx.so",
    ),
    "LD_PRELOAD by path": Tree(
        {"b/libx.so": X, "c/libx.so": X, "a/libq.so": Lib(NEEDS_X, rpath="@/c")},
        ("@/a/libq.so",), {"LD_PRELOAD": "@/b/libx.so"}, "b/libx.so",
    ),
    "LD_PRELOAD by name, one of them nowhere": Tree(
        {"b/libx.so": X, "c/libx.so": X, "a/libq.so": Lib(NEEDS_X, rpath="@/c")},
        ("@/a/libq.so",), {"LD_PRELOAD": "libgone.so:libx.so", "LD_LIBRARY_PATH": "@/b"}, "b/libx.so",
    ),
    "a name that ctypes asks for": Tree({"b/libx.so": X}, ("libx.so",), {"LD_LIBRARY_PATH": "@/b"}, "b/libx.so"),
    "a name that is nowhere": Tree({"b/libx.so": X}, ("libx.so",)),
    "semicolons, trailing slashes and empty elements": Tree(
        {"b/libx.so": X, "c/libx.so": X}, ("libx.so",), {"LD_LIBRARY_PATH": "@/gone;@/b//:@/c"}, "b/libx.so"
    ),
    "an empty element is the current directory": Tree(
        {"libx.so": X, "c/libx.so": X}, ("libx.so",), {"LD_LIBRARY_PATH": "@/gone::@/c"}, "libx.so"
    ),
    "an empty element of a RUNPATH too": Tree(
        {"libx.so": X, "a/libq.so": Lib(NEEDS_X, runpath="@/gone:")}, ("@/a/libq.so",), {}, "libx.so"
    ),
    "an empty variable is none": Tree({"libx.so": X}, ("libx.so",), {"LD_LIBRARY_PATH": ""}),
    "NEEDED with $ORIGIN": Tree(
        {"a/libq.so": Lib(("$ORIGIN/../b/libx.so",)), "b/libx.so": X}, ("@/a/libq.so",), {}, "b/libx.so"
    ),
    "glibc-hwcaps": Tree(
        {
            "a/libq.so": Lib(NEEDS_X, rpath="@/b"), "b/libx.so": X,
            **{f"b/glibc-hwcaps/x86-64-v{level}/libx.so": X for level in (2, 3, 4)},
        },
        ("@/a/libq.so",),
    ),
    "glibc-hwcaps in LD_LIBRARY_PATH": Tree(
        {"b/libx.so": X, "b/glibc-hwcaps/x86-64-v2/libx.so": X, "c/libx.so": X},
        ("libx.so",), {"LD_LIBRARY_PATH": "@/b:@/c"},
    ),
    "the older directories": Tree(
        {"b/libx.so": X, **{f"b/{old}/libx.so": X for old in ("tls/x86_64", "tls", "x86_64")}},
        ("libx.so",), {"LD_LIBRARY_PATH": "@/b"},
    ),
    "x86_64 alone of the older directories": Tree(
        {"b/libx.so": X, "b/x86_64/libx.so": X, "b/haswell/libx.so": X}, ("libx.so",), {"LD_LIBRARY_PATH": "@/b"}
    ),
    "a token in LD_LIBRARY_PATH": Tree(
        {"b/libx.so": X, "b/x86_64/libx.so": X}, ("libx.so",), {"LD_LIBRARY_PATH": "@/b/$PLATFORM:@/b"}
    ),
}  # fmt: skip

_CHILD = """
import ctypes, sys
root, *opens = sys.argv[1:]
for name in opens:
    try:
        ctypes.CDLL(name)
    except OSError:
        pass
mapped = []
for line in open("/proc/self/maps"):
    path = line.rstrip("\\n").partition("/")[2]
    if ("/" + path).startswith(root + "/") and path not in mapped:
        mapped.append(path)
print("\\n".join("/" + path for path in mapped))
"""


def lay(root: Path, files: Mapping[str, Lib | bytes | str]) -> None:
    for name, what in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if what == "dir":
            path.mkdir()
        elif isinstance(what, str):
            path.symlink_to(what.replace("@", str(root)))
        elif isinstance(what, bytes):
            path.write_bytes(what)
        else:
            needed, rpath, runpath = ([text.replace("@", str(root)) for text in part] for part in
                                      (what.needed, (what.rpath,), (what.runpath,)))  # fmt: skip
            content = elf_bytes(
                what.soname or path.name,
                needed=needed,
                rpath=rpath[0],
                runpath=runpath[0],
                machine=what.machine,
                flags_1=what.flags_1,
            )
            path.write_bytes(content)


def observed(root: Path, opens: Sequence[str], environ: Mapping[str, str]) -> set[str]:
    child = subprocess.run(
        [sys.executable, "-c", _CHILD, str(root), *opens], env=environ, cwd=root, capture_output=True, text=True
    )
    assert child.returncode == 0, child.stderr
    return {os.path.realpath(line) for line in child.stdout.splitlines() if line}


def predicted(root: Path, opens: Sequence[str], environ: Mapping[str, str]) -> set[str]:
    host = LiveHost({**environ, "PWD": str(root)})
    facts = loader.look(host)._replace(cache=whole_cache(host))
    program = read_program(host, sys.executable)
    assert program is not None
    process = Process(host, Search(host, facts, program), program.machine)
    process.start(facts.preload.get())
    by = process.open(_ctypes.__file__, None) if hasattr(_ctypes, "__file__") else process.mapped[0]
    for name in opens:
        try:
            process.open(name, by)
        except CannotOpen:
            continue
    found = {os.path.realpath(one.library.path) for one in process.mapped}
    return {path for path in found if path.startswith(f"{root}/")}


@pytest.mark.parametrize("name", TREES)
def test_the_real_loader_does_what_is_predicted(tmp_path: Path, name: str) -> None:
    tree = TREES[name]
    root = tmp_path.resolve()
    lay(root, tree.files)
    opens = [one.replace("@", str(root)) for one in tree.opens]
    environ = {key: value.replace("@", str(root)) for key, value in tree.environ.items()}
    real = observed(root, opens, environ)
    assert predicted(root, opens, environ) == real
    assert not tree.mapped or str(root / tree.mapped) in real
