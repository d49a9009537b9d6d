"""cuDNN archives of every layout, packed from small trees, and the orders that ask for them."""

from __future__ import annotations

import hashlib
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from compat.matrix import Matrix
from compat.version import CudnnVersion
from installers.methods.cudnn_archive import Order, archive_plan
from installers.plan import Plan, Target
from installers.steps.download import Download
from tests.installers.target import JETSON, ROOT, WINDOWS
from tests.lab.cudnn_tree import copy_of, dlls_of, header_of, link
from tests.lab.elf_file import elf_bytes

MATRIX = Matrix()
PPC = ROOT._replace(arch="ppc64le")
SBSA = ROOT._replace(arch="sbsa")


class Era(NamedTuple):
    """One layout: what is ordered, and where things lie in the archive."""

    version: str
    cuda: str
    target: Target
    name: str  # of the archive
    headers: str  # directory in it
    libraries: str
    import_libraries: str = ""

    def order(self, home: str = "") -> Order:
        return Order(CudnnVersion.parse(self.version), self.cuda, home)


_WINDOWS_9 = "cudnn-windows-x86_64-9.10.2.21_cuda12-archive"
_WINDOWS_18 = "cudnn-windows-x86_64-9.18.0.77_cuda13-archive"
_LINUX_9 = "cudnn-linux-x86_64-9.10.2.21_cuda12-archive"
_LINUX_8 = "cudnn-linux-x86_64-8.9.7.29_cuda12-archive"
_LINUX_83 = "cudnn-linux-x86_64-8.4.0.27_cuda11.6-archive"
_JETSON = "cudnn-linux-aarch64-9.10.2.21_cuda12-archive"
_SBSA = "cudnn-linux-sbsa-9.10.2.21_cuda12-archive"
_V2 = "cudnn-6.5-linux-x64-v2"
LINUX = (
    Era("2", "6.5", ROOT, f"{_V2}.tgz", _V2, _V2),
    Era("5.1", "8.0", ROOT, "cudnn-8.0-linux-x64-v5.1.tgz", "cuda/include", "cuda/lib64"),
    Era("7.6.5", "10.1", ROOT, "cudnn-10.1-linux-x64-v7.6.5.32.tgz", "cuda/include", "cuda/lib64"),
    Era(
        "7.6.5",
        "10.1",
        PPC,
        "cudnn-10.1-linux-ppc64le-v7.6.5.32.tgz",
        "cuda/targets/ppc64le-linux/include",
        "cuda/targets/ppc64le-linux/lib",
    ),
    Era("8.0.5", "11.0", ROOT, "cudnn-11.0-linux-x64-v8.0.5.39.tgz", "cuda/include", "cuda/lib64"),
    Era("8.4.0", "11.6", ROOT, f"{_LINUX_83}.tar.xz", f"{_LINUX_83}/include", f"{_LINUX_83}/lib"),
    Era("8.9.7", "12.2", ROOT, f"{_LINUX_8}.tar.xz", f"{_LINUX_8}/include", f"{_LINUX_8}/lib"),
    Era("9.10.2", "12.8", ROOT, f"{_LINUX_9}.tar.xz", f"{_LINUX_9}/include", f"{_LINUX_9}/lib"),
    Era("9.10.2", "12", JETSON, f"{_JETSON}.tar.xz", f"{_JETSON}/include", f"{_JETSON}/lib"),
    Era("9.10.2.21", "12", SBSA, f"{_SBSA}.tar.xz", f"{_SBSA}/include", f"{_SBSA}/lib"),
)
WINDOWS_ERAS = (
    Era("5.1", "8.0", WINDOWS, "cudnn-8.0-windows10-x64-v5.1.zip", "cuda/include", "cuda/bin", "cuda/lib/x64"),
    Era("7.6.5", "10.1", WINDOWS, "cudnn-10.1-windows10-x64-v7.6.5.32.zip", "cuda/include", "cuda/bin", "cuda/lib/x64"),
    Era("8.0.5", "11.0", WINDOWS, "cudnn-11.0-windows-x64-v8.0.5.39.zip", "cuda/include", "cuda/bin", "cuda/lib/x64"),
    Era(
        "9.10.2",
        "12.8",
        WINDOWS,
        f"{_WINDOWS_9}.zip",
        f"{_WINDOWS_9}/include",
        f"{_WINDOWS_9}/bin",
        f"{_WINDOWS_9}/lib/x64",
    ),
    Era(
        "9.18.0",
        "13.0",
        WINDOWS,
        f"{_WINDOWS_18}.zip",
        f"{_WINDOWS_18}/include",
        f"{_WINDOWS_18}/bin/x64",
        f"{_WINDOWS_18}/lib/x64",
    ),
)


def pack(era: Era, folder: Path) -> Path:
    """The archive of an era, with a whole cuDNN of its release in it."""
    tree = folder / "tree"
    header_of(tree / era.headers, era.version)
    if era.target.os_family == "windows":
        dlls_of(tree / era.libraries, era.version)
        (tree / era.import_libraries).mkdir(parents=True)
        (tree / era.import_libraries / "cudnn.lib").write_bytes(b"lib")
        return _zip(tree, folder / era.name)
    if era.version == "2":
        (tree / era.libraries / "libcudnn.so.6.5.48").write_bytes(elf_bytes("libcudnn.so.6.5"))
        link(tree / era.libraries / "libcudnn.so.6.5", "libcudnn.so.6.5.48")
        link(tree / era.libraries / "libcudnn.so", "libcudnn.so.6.5")
    else:
        machine = {"ppc64le": "ppc64", "sbsa": "aarch64", "jetson": "aarch64"}.get(era.target.arch, "x86_64")
        copy_of(tree / era.libraries, era.version, chain=True, machine=machine)
    for path in (tree / era.libraries).iterdir():
        if not path.is_symlink():
            path.chmod(0o600)  # as whoever packed it may have had it: chmod a+r is there for a reason
    archive = folder / era.name
    with tarfile.open(archive, "w:xz" if era.name.endswith(".xz") else "w:gz") as packed:
        for path in sorted(tree.iterdir()):
            packed.add(path, path.name)
    return archive


def _zip(tree: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(tree.rglob("*")):
            packed.write(path, path.relative_to(tree).as_posix())
    return archive


def plan_of(era: Era, home: str, archive: Path, url: str) -> Plan:
    """The era's plan, with the download of the real file exchanged for that of a packed one."""
    plan = archive_plan(era.order(home), era.target, MATRIX)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    steps = [
        step._replace(url=f"{url}/{archive.name}", sha256=(digest,)) if isinstance(step, Download) else step
        for step in plan.steps
    ]
    return plan._replace(steps=tuple(steps))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder on a loopback address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
