"""Real directories, archives of them, and a digest of all that makes a tree what it is."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path

from installers.plan import Plan
from installers.steps.change_mode import ChangeMode
from installers.steps.command import NOTHING_TO_TAKE_BACK, Command
from installers.steps.copy_tree import CopyTree
from installers.steps.edit_text import EditText
from installers.steps.extract import Extract
from installers.steps.make_link import MakeLink
from installers.steps.use_file import UseFile
from installers.steps.write_file import WriteFile

NOON = 1_600_000_000
STEM = "cudnn-linux-x86_64-9.10.2.21_cuda12-archive"


def digest_of(root: Path, *, new_times: bool = True) -> str:
    """Of names, kinds, modes, times, contents and link texts of a tree, its root included.

    Without `new_times`, what was made just now is equal to what was made at another time.
    """
    found = hashlib.sha256()
    for path in sorted([root, *root.rglob("*")]):
        seen = path.lstat()
        time_ns = seen.st_mtime_ns if new_times or seen.st_mtime < NOON + 10**6 else 0
        content = ""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(repr((str(path.relative_to(root)), oct(seen.st_mode), time_ns, content)).encode())
    return found.hexdigest()


def toolkit(root: Path) -> Path:
    """A CUDA directory with an older cuDNN in it, links and odd modes included."""
    cuda = root / "cuda"
    library = cuda / "targets/x86_64-linux/lib"
    library.mkdir(parents=True)
    (cuda / "lib64").symlink_to("targets/x86_64-linux/lib")
    (cuda / "include").mkdir()
    files = {
        library / "libcudnn.so.9.1.0": (b"old" * 50_000, 0o755),
        library / "libcudart.so.12": (b"runtime" * 999, 0o644),
        cuda / "include/cudnn.h": (b"// old\n", 0o640),
        cuda / "include/cudnn_version.h": (b"#define CUDNN_MAJOR 8\n", 0o444),
        cuda / "version.json": (b"{}\n", 0o600),
        cuda / "settings.ini": (b"[global]\ndevice = cpu\n\n[nvcc]\nflags = a\n", 0o604),
    }
    for path, (content, mode) in files.items():
        path.write_bytes(content)
        path.chmod(mode)
    (library / "libcudnn.so.9").symlink_to("libcudnn.so.9.1.0")
    (library / "libcudnn.so").symlink_to("libcudnn.so.9")
    os.link(library / "libcudart.so.12", library / "libcudart.so.12.other")
    for number, path in enumerate(sorted([cuda, *cuda.rglob("*")], reverse=True)):
        os.utime(path, ns=(NOON * 10**9, NOON * 10**9 + number * 1_234_567), follow_symlinks=False)
    return cuda


def archive(root: Path, library: bytes = b"new" * 80_000) -> Path:
    """A cuDNN archive as NVIDIA lays them out."""
    path = root / f"{STEM}.tar.xz"
    files = {
        "include/cudnn.h": b"// new\n",
        "include/cudnn_version.h": b"#define CUDNN_MAJOR 9\n",
        "include/cudnn_graph.h": b"// graph\n",
        "lib/libcudnn.so.9.10.2": library,
        "lib/libcudnn_ops.so.9.10.2": b"ops" * 80_000,
    }
    links = {"lib/libcudnn.so.9": "libcudnn.so.9.10.2", "lib/libcudnn.so": "libcudnn.so.9"}
    with tarfile.open(path, "w:xz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(f"{STEM}/{name}")
            info.size, info.mtime, info.mode = len(content), NOON + 5, 0o600 if name.endswith(".h") else 0o755
            tar.addfile(info, io.BytesIO(content))
        for name, text in links.items():
            info = tarfile.TarInfo(f"{STEM}/{name}")
            info.type, info.linkname, info.mtime = tarfile.SYMTYPE, text, NOON + 6
            tar.addfile(info)
    return path


def plan(cuda: Path, packed: Path, sha256: str = "") -> Plan:
    """Install the archive over the CUDA directory, with every kind of change there is."""
    digest = sha256 or hashlib.sha256(packed.read_bytes()).hexdigest()
    return Plan(
        "install cuDNN 9.10.2",
        (
            UseFile(str(packed), "cudnn.tar.xz", (digest,), "the archive"),
            Extract("cudnn.tar.xz", "", "unpack it"),
            CopyTree(f"{STEM}/include", f"{cuda}/include", ("cudnn*.h",), "headers"),
            CopyTree(f"{STEM}/lib", f"{cuda}/lib64", ("libcudnn*",), "libraries"),
            CopyTree(STEM, f"{cuda}/extras/cudnn", ("lib/**",), "once more, in directories that are not there"),
            ChangeMode((f"{cuda}/include/cudnn*.h", f"{cuda}/lib64/libcudnn*"), "a+r", "readable by all"),
            MakeLink(f"{cuda}/current", "extras/cudnn", "a short name"),
            Command(("true",), "a command between changes of files", inverse=NOTHING_TO_TAKE_BACK),
            EditText(f"{cuda}/settings.ini", "global", (("device", "cuda"),), (), "use the GPU"),
            WriteFile(f"{cuda}/ld.so.conf.d/cudnn.conf", (f"{cuda}/lib64",), "where the loader looks"),
        ),
    )
