"""What the second look at an environment costs, counted in files and not in time, and that it says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.probes import ProbeRequest, look
from tests.lab.elf_file import elf_bytes
from tests.loader.test_code_tools import ptxas
from tests.probes.pretend import PretendHost
from tests.probes.tree import Tree, plant

SITE = "/venv/lib/python3.11/site-packages"
CUDNN = f"{SITE}/nvidia/cudnn/lib"
CUBLAS = f"{SITE}/nvidia/cublas/lib"
WHEELS = "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/cublas/lib:$ORIGIN"
INIT = 'try:\n    pass\nexcept OSError as err:\n    libs = {"cublas": "libcublas.so.*[0-9]"}\n'


def wheel(name: str, version: str, *files: str, requires: str = "") -> Tree:
    folder = f"{SITE}/{name.replace('-', '_')}-{version}.dist-info"
    fields = f"Name: {name}\nVersion: {version}\n" + (f"Requires-Dist: {requires}\n" if requires else "")
    return {f"{folder}/METADATA": fields, f"{folder}/RECORD": "".join(f"{path},sha256=x,1\n" for path in files)}


def machine() -> Tree:
    """A machine with torch, its cuDNN and cuBLAS, and Triton's ptxas."""
    version = 9 << 16 | 10 << 8 | 2
    return {
        "/lib64/ld-linux-x86-64.so.2": elf_bytes("ld-linux-x86-64.so.2"),
        "/lib/x86_64-linux-gnu/libc.so.6": elf_bytes("libc.so.6"),
        "/usr/lib/": "",
        "/venv/bin/python": elf_bytes(needed=("libc.so.6",)),
        "/venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.7\n",
        **wheel("torch", "2.9.1+cu128", "torch/version.py", requires="nvidia-cudnn-cu12 (==9.10.2.21)"),
        f"{SITE}/torch/version.py": "__version__ = '2.9.1+cu128'\ncuda = '12.8'\nhip = None\n",
        f"{SITE}/torch/__init__.py": INIT,
        f"{SITE}/torch/lib/libtorch_global_deps.so": elf_bytes(needed=("libcublas.so.12",), runpath=WHEELS),
        f"{SITE}/torch/lib/libtorch_python.so": elf_bytes(needed=("libcudnn.so.9", "libc.so.6"), runpath=WHEELS),
        f"{SITE}/torch/_C.cpython-311-x86_64-linux-gnu.so": elf_bytes(
            needed=("libtorch_python.so",), runpath="$ORIGIN/lib"
        ),
        **wheel("nvidia-cudnn-cu12", "9.10.2.21"),
        f"{CUDNN}/libcudnn.so.9": elf_bytes("libcudnn.so.9"),
        f"{CUDNN}/libcudnn_graph.so.9": elf_bytes("libcudnn_graph.so.9", values={"cudnn_graph_version": version}),
        **wheel("nvidia-cublas-cu12", "12.8.4.1"),
        f"{CUBLAS}/libcublas.so.12": elf_bytes("libcublas.so.12"),
        **wheel("triton", "3.5.1"),
        f"{SITE}/triton/backends/nvidia/bin/ptxas": ptxas("12.8.93"),
    }


class CountingHost(PretendHost):
    """The tree as a live machine that keeps a cache outside of itself."""

    def __init__(self, root: Path, cache: Path, tree: Tree, **environ: str) -> None:
        super().__init__(root, tree, environ={"GPUDOCTOR_CACHE": str(cache), **environ})
        self.opened: list[str] = []

    def open(self, path: str) -> BinaryIO:
        self.opened.append(path)
        return super().open(path)


def looked(root: Path, tree: Tree | None = None, **environ: str) -> tuple[Facts, list[str]]:
    """What is seen, and which files were opened in pieces: libraries and programs.

    The head of the interpreter is read each time: that is less than what is remembered.
    """
    host = CountingHost(root / "machine", root / "cache", tree or {}, **environ)
    facts = look(host, ProbeRequest(("/venv",)))
    return facts, [path for path in host.opened if ".so" in path or ("/bin/" in path and not path.endswith("/python"))]


def telling(facts: Facts) -> tuple[Any, ...]:
    return facts.environments, facts.loader, facts.cudnn, facts.code_tools, facts.failures


def winner(facts: Facts, soname: str) -> str:
    found = next(one for one in value_or(facts.loader.predictions, ()) if one.soname == soname)
    return str(value_or(found.path, "nothing"))


def test_the_second_look_opens_no_library_and_says_the_same(tmp_path: Path) -> None:
    first, opened = looked(tmp_path, machine())
    assert winner(first, "libcudnn.so.9") == f"{CUDNN}/libcudnn.so.9"
    assert winner(first, "libcublas.so.12") == f"{CUBLAS}/libcublas.so.12"
    assert [tool.release.get() for one in first.code_tools.get() for tool in one.ptxas.get()] == ["12.8.93"]
    assert len(set(opened)) >= 9
    assert len(opened) <= 2 * len(set(opened)), "each for its search and for its version at most"
    second, opened = looked(tmp_path)
    assert opened == []
    assert telling(second) == telling(first)
    without, opened = looked(tmp_path, GPUDOCTOR_CACHE="")
    assert len(set(opened)) >= 9
    assert telling(without) == telling(first)


def test_a_copy_that_comes_before_is_seen_although_no_known_file_changed(tmp_path: Path) -> None:
    """What is remembered is what files say; where they are looked for is looked for each time."""
    before, _ = looked(tmp_path, machine(), LD_LIBRARY_PATH="/opt/a")
    assert winner(before, "libcudnn.so.9").startswith(CUDNN)
    plant(tmp_path / "machine", {"/opt/a/libcudnn.so.9": elf_bytes("libcudnn.so.9")})
    after, opened = looked(tmp_path, LD_LIBRARY_PATH="/opt/a")
    assert winner(after, "libcudnn.so.9") == "/opt/a/libcudnn.so.9"
    assert set(opened) == {"/opt/a/libcudnn.so.9"}
    without, opened = looked(tmp_path)
    assert winner(without, "libcudnn.so.9").startswith(CUDNN)
    assert opened == []
    (tmp_path / "machine" / CUDNN[1:] / "libcudnn.so.9").unlink()
    assert winner(looked(tmp_path)[0], "libcudnn.so.9") == "nothing"


def test_a_library_that_changes_is_read_again(tmp_path: Path) -> None:
    looked(tmp_path, machine())
    other = elf_bytes(needed=("libcudnn.so.9", "libcudnn_extra.so.9"), runpath=WHEELS)
    path = f"{SITE}/torch/lib/libtorch_python.so"
    (tmp_path / "machine" / path[1:]).write_bytes(other)
    _, opened = looked(tmp_path)
    assert set(opened) == {path}
