"""Hostile trees: a machine of the lab, damaged by a seeded generator, and what a check of it must keep to."""

from __future__ import annotations

import ctypes
import functools
import io
import json
import os
import random
import shutil
import struct
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

from compat.base.errors import GpudoctorError
from doctor.commands.check.command import CheckSubject, ReportOptions, check
from doctor.output.write import terminal_style
from tests.hostile.guard import guard_of
from tests.hostile.mutate import mutated
from tests.lab.cases import CASES
from tests.lab.parts import KERNEL, VENV, module_bytes, site_of

MEMORY_AT_MOST_MIB = 150
CPU_AT_MOST_S = 5.0
_PLAIN_CHECK_MIB = 30  # what a check takes before it has read anything: docs/benchmarks
MARK = "ESCAPED-7f3a"
_GIANT_BYTES = 3 << 30

Tree = dict[bytes, bytes | str | int]  # by path: content; "-> target", "fifo", "dir"; bytes of a sparse file


class Broken(NamedTuple):
    """A promise that a check did not keep."""

    seed: int
    what: str


# The machines


@functools.cache
def machines(every: int = 1) -> tuple[Tree, ...]:
    """Every n-th of the lab's trees, read once."""
    cases = [case for case in CASES if case.where != "pretended"]
    with tempfile.TemporaryDirectory(dir=scratch()) as folder:
        return tuple(_read(case.build(Path(folder) / case.name)) for case in cases[::every])


def scratch() -> str | None:
    """A directory in memory, where there is one."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def _read(root: Path) -> Tree:
    found: Tree = {}
    for folder, _, names in os.walk(os.fsencode(root)):
        short = folder[len(os.fsencode(root)) + 1 :]
        for name in (*names, *(one for one in os.listdir(folder) if os.path.islink(os.path.join(folder, one)))):
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[os.path.join(short, name)] = "-> " + os.fsdecode(os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as stream:
                    found[os.path.join(short, name)] = stream.read()
    return found


@functools.cache
def more_files() -> Tree:
    """Files of the kinds that are read, and that the lab's machines have not or seldom."""
    import gzip
    import lzma

    module = module_bytes("580.95.05", "Dual MIT/GPL", signed=True)
    egg = io.BytesIO()
    with zipfile.ZipFile(egg, "w") as archive:
        archive.writestr("EGG-INFO/PKG-INFO", "Name: torch\nVersion: 1.0\n")
    modules, site, home = f"usr/lib/modules/{KERNEL}", site_of().lstrip("/"), "home/user"
    conda = {
        "name": "libcudnn", "version": "9.10.1.4", "depends": ["cuda-version >=12,<13.0a0"],
        "paths_data": {"paths": [{"_path": "lib/libcudnn.so.9", "path_type": "hardlink", "size_in_bytes": 7}]},
    }  # fmt: skip
    names = b"/usr/lib/x86_64-linux-gnu/libcudnn.so.9\0libcudnn.so.9\0"
    cache = b"glibc-ld.so.cache1.1" + struct.pack("<II20x", 1, len(names)) + struct.pack("<iIIIQ", 0x303, 112, 72, 0, 0)
    files: dict[str, bytes | str] = {
        "etc/ld.so.cache": cache + names,
        "etc/ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n/usr/local/cuda/lib64\n",
        "etc/ld.so.preload": "/usr/lib/libjemalloc.so",
        "etc/environment": "LD_LIBRARY_PATH=/opt/cudnn/lib\nCUDA_HOME=/usr/local/cuda\n",
        "etc/profile.d/cuda.sh": "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH\n",
        "etc/docker/daemon.json": '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}',
        "etc/passwd": "root:x:0:0::/root:/bin/sh\nzoe:x:1001:1001:Zoe:/data/zoe:/bin/sh\n",
        "etc/hostname": "node7\n",
        "etc/hosts": "10.0.0.7 node7.cluster.example node7\n",
        "etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic\n",
        "etc/modprobe.d/nvidia.conf": "blacklist nouveau\noptions nvidia NVreg_OpenRmEnableUnsupportedGpus=1\n",
        "etc/apt/sources.list.d/cuda.list": "deb [signed-by=/x.gpg] https://example.com/ /\n",
        f"{modules}/kernel/drivers/video/nvidia.ko.xz": lzma.compress(module),
        f"{modules}/updates/dkms/nvidia.ko.gz": gzip.compress(module),
        f"{modules}/extra/nvidia.ko.zst": b"\x28\xb5\x2f\xfd" + module[:400],
        f"{modules}/modules.dep": "kernel/drivers/video/nvidia.ko.xz:\n",
        f"var/lib/dkms/nvidia/580.95.05/{KERNEL}/x86_64/module/nvidia.ko": module,
        "var/lib/dpkg/status": "Package: libcudnn9-cuda-12\nStatus: install ok installed\nVersion: 9.10.2.21-1\n\n",
        "var/lib/dpkg/info/libcudnn9-cuda-12.list": "/.\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n",
        "var/log/kern.log": "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n",
        "opt/conda/conda-meta/libcudnn-9.10.1.4-h58dd1b1_1.json": json.dumps(conda),
        "opt/conda/conda-meta/history": "==> 2026-01-01 <==\n",
        f"{home}/.theanorc": "[global]\nfloatX = float32\ndevice = cuda\n[dnn]\nenabled = True\n",
        f"{home}/.keras/keras.json": '{"backend": "theano", "floatx": "float32"}',
        f"{home}/.bashrc": "export LD_LIBRARY_PATH=/opt/cudnn/lib\nexport CUDA_VISIBLE_DEVICES=0\n",
        f"{home}/.local/share/jupyter/kernels/x/kernel.json": '{"argv": ["/opt/venv/bin/python", "-m"]}',
        f"{home}/project/pyproject.toml": '[project]\nname = "x"\ndependencies = ["torch==2.9.1"]\n[tool.uv]\n',
        f"{home}/project/.python-version": "3.12\n",
        f"{site}/torch-2.9.1.dist-info/direct_url.json": '{"url": "https://example.com/torch.whl"}',
        f"{site}/nvidia_cudnn_cu12-9.10.2.21.dist-info/RECORD": "nvidia/cudnn/lib/libcudnn.so.9,sha256=47DEQ,0\n",
        f"{site}/nvidia_cudnn_cu12-9.10.2.21.dist-info/INSTALLER": "pip\n",
        f"{VENV.lstrip('/')}/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.3\ninclude-system-site-packages = true\n",
        f"{site}/torch-1.0-py3.6.egg": egg.getvalue(),
        f"{site}/easy-install.pth": "./torch-1.0-py3.6.egg\n/opt/extra\n",
        f"{site}/__editable__.torch-2.9.1.pth": "/home/user/src/torch\n",
        f"{site}/old.egg-link": "/home/user/src/old\n",
        f"{site}/xformers/cpp_lib.json": '{"version": {"cuda": 1208, "torch": "2.9.1"}, "env": {}}',
        f"{site}/cupy/.data/_wheel.json": '{"cuda": "12.x", "packaging": "pip", "cudnn": null}',
        f"{site}/nvidia/cudnn/include/cudnn_version.h": "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 10\n",
        "usr/local/cuda-12.8/version.json": '{"cuda": {"name": "CUDA SDK", "version": "12.8.1"}}',
        "usr/local/cuda-8.0/version.txt": "CUDA Version 8.0.61\n",
        "usr/local/cuda-8.0/include/cudnn.h": "#define CUDNN_MAJOR 5\n#define CUDNN_MINOR 1\n",
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05\n",
    }
    return {path.encode(): one if one.__class__ is bytes else one.encode() for path, one in files.items()}  # type: ignore[union-attr]


# The damage

_ODD = (
    *(b"\xff\xfe", b"\x1b[31m", b"a\nb", b"\xe2\x80\xae", b"-", b" ", b"~", b"%s%n", b"..-1.0", b"'\"", b"$(id)"),
    *(b"*", b"x" * 200, b"\\", b"\xed\xa0\x80", b"CON", b"a:b", b",", b"{}", b"\x7f", b"\xc2\x9b"),
)


def damaged(rng: random.Random, outside: bytes, among: tuple[Tree, ...]) -> tuple[Tree, list[bytes]]:
    """A tree, and directories of it that are exchanged with links while it is looked at."""
    tree = {**rng.choice(among), **_some_of(more_files(), rng, rng.random())}
    if rng.random() < 0.9:  # smaller machines are looked at faster
        tree = _some_of(tree, rng, rng.choice((2, 5, 10, 20, 40)) / len(tree))
    others = tuple(one for one in tree.values() if isinstance(one, bytes))
    for _ in range(rng.choice((1, 3, 8, 25, 60))):
        if tree:
            _damage(tree, rng.choice(sorted(tree)), rng, others, outside)
    swaps = [] if rng.random() < 0.8 else _folders(tree, rng)
    return tree, swaps


def _some_of(tree: Tree, rng: random.Random, part: float) -> Tree:
    return {path: tree[path] for path in rng.sample(sorted(tree), min(len(tree), int(part * len(tree)) + 1))}


def _damage(tree: Tree, path: bytes, rng: random.Random, others: tuple[bytes, ...], outside: bytes) -> None:
    content, way = tree[path], rng.choices(_WAYS, _CHANCES)[0]
    if way == "mutate" and isinstance(content, bytes):
        tree[path] = mutated(content[: 1 << 20], rng, others)
    elif way in {"mutate", "link"}:
        tree[path] = "-> " + _target(tree, path, rng, outside)
    elif way == "link of a directory":
        folder = _above(path, rng)
        for one in [one for one in tree if one.startswith(folder + b"/")] if folder else ():
            del tree[one]
        tree[folder or b"a"] = "-> " + _target(tree, folder, rng, outside)
    elif way == "no file":
        tree[path] = rng.choice(("fifo", "dir"))
    elif way == "giant":
        tree[path] = rng.choice((5 << 20, 40 << 20, _GIANT_BYTES))
    elif way == "rename":
        tree[_renamed(path, rng)] = tree.pop(path)
    elif way == "odd neighbour":
        tree[b"/".join((*path.split(b"/")[:-1], rng.choice(_ODD)))] = content
    else:
        folder, _, name = path.rpartition(b"/")
        for number in range(300):
            tree[b"%b/%b-%d" % (folder, name[:100], number)] = content if isinstance(content, str) else b""


_WAYS = ("mutate", "link", "link of a directory", "no file", "giant", "rename", "odd neighbour", "many")
_CHANCES = (68, 10, 6, 4, 3, 5, 3, 1)


def _renamed(path: bytes, rng: random.Random) -> bytes:
    parts = path.split(b"/")
    number, odd = rng.randrange(len(parts)), rng.choice(_ODD)
    parts[number] = rng.choice((odd, parts[number] + odd, odd + parts[number]))
    return b"/".join(part[:240] for part in parts)


def _above(path: bytes, rng: random.Random) -> bytes:
    parts = path.split(b"/")
    return b"/".join(parts[: rng.randrange(1, len(parts))]) if len(parts) > 1 else b""


def _target(tree: Tree, path: bytes, rng: random.Random, outside: bytes) -> str:
    """Where a link leads: out of the tree, to itself, in circles, or anywhere in it."""
    out = os.fsdecode(outside)
    inside = os.fsdecode(rng.choice(sorted(tree) or [path]))
    below = os.fsdecode(path)
    return rng.choice(
        (
            *(out, out + "/" + below, "../" * rng.randrange(1, 30) + out.lstrip("/"), "/../.." + out),
            *("/", ".", "..", "/" + below, below.rpartition("/")[2], "/" + inside, inside, "../" * 3 + inside),
            *("/proc/self/root" + out, "/proc/self/cwd", "/dev/zero", "/dev/fd/0", "x" * 300, "a/" * 2000, "\udcff"),
            *("//" + out, out + "/.", out + "/" + inside, "/etc", "/home/user/../../" + out),
        )
    )


def _folders(tree: Tree, rng: random.Random) -> list[bytes]:
    """Directories of which none lies in another: exchanged, that would be one outside."""
    found: list[bytes] = []
    for folder in rng.sample(all_of := sorted({_above(path, rng) for path in tree} - {b""}), min(len(all_of), 8)):
        if not any((one + b"/").startswith(folder + b"/") or (folder + b"/").startswith(one + b"/") for one in found):
            found.append(folder)
    return found[:4]


# Laying and checking


def lay(tree: Tree, root: bytes) -> None:
    """Lay a tree; where two of its paths cannot both be, the first stays."""
    os.makedirs(root, exist_ok=True)
    inside: dict[bytes, bool] = {}
    for path, content in tree.items():
        place = os.path.join(root, path)
        folder = os.path.dirname(place)
        try:
            if folder not in inside:
                inside[folder] = _made_inside(folder, root)
            if inside[folder] and not os.path.lexists(place):
                _write(place, content)
        except (OSError, ValueError):
            continue  # a name too long, a file where a directory belongs


def _made_inside(folder: bytes, root: bytes) -> bool:
    """Make a directory, unless a link on the way leads out of the tree."""
    above = folder
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    if _is_inside(above, root):
        os.makedirs(folder, exist_ok=True)
    return _is_inside(folder, root)


def _is_inside(folder: bytes, root: bytes) -> bool:
    return (os.path.realpath(folder) + b"/").startswith(os.path.realpath(root) + b"/")


def _write(place: bytes, content: bytes | str | int) -> None:
    if isinstance(content, str):
        if content == "fifo":
            os.mkfifo(place)
        elif content == "dir":
            os.mkdir(place)
        else:
            os.symlink(os.fsencode(content[3:]), place)
        return
    with open(place, "wb") as stream:
        if isinstance(content, bytes):
            stream.write(content)
        else:
            stream.truncate(content)


class Swapper:
    """Exchanges directories with links that lead out of the tree, over and over, until it is left."""

    def __init__(self, root: bytes, folders: list[bytes], outside: bytes) -> None:
        self._pairs = []
        for number, folder in enumerate(folders):
            link = os.path.join(root, b"swap-%d" % number)
            place = os.path.join(root, folder)
            if os.path.isdir(place) and not os.path.islink(place) and _is_inside(place, root):
                os.symlink(outside, link)
                self._pairs.append((place, link))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        if self._pairs:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._pairs:
            self._thread.join()

    def _run(self) -> None:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
        while not self._over.is_set():
            for place, link in self._pairs:
                exchange(-100, place, -100, link, 2)  # AT_FDCWD, RENAME_EXCHANGE
            time.sleep(0.0002)


class Outside:
    """A machine beside the root, that nobody may open: the kernel tells who did."""

    def __init__(self, folder: Path, every: int = 1) -> None:
        self.path, self.machines = os.fsencode(folder), machines(every)
        tree = dict(self.machines[0])
        tree[b"etc/os-release"] = f'PRETTY_NAME="{MARK}"\nID={MARK}\nVERSION_ID="1"\n'.encode()
        lay(tree, self.path)
        self._guard = guard_of([directory for directory, _, _ in os.walk(self.path)])
        while self.opened():
            pass  # our own walk

    def opened(self) -> list[str]:
        """What this process opened or listed in there since the last question."""
        return self._guard.opened()


def broken_by(seed: int, folder: Path, outside: Outside) -> list[Broken]:
    """Check one tree."""
    rng = random.Random(seed)
    tree, swaps = damaged(rng, outside.path, outside.machines)
    root = os.fsencode(folder / "root")
    lay(tree, root)
    outside.opened()
    with Swapper(root, swaps, outside.path):
        found = [Broken(seed, what) for what in _promises(os.fsdecode(root), outside, redact=seed % 8 == 0)]
    shutil.rmtree(root)
    return found


def _promises(root: str, outside: Outside, *, redact: bool) -> list[str]:
    before_kib = _reset_peak()
    started = time.thread_time()
    try:
        text, status = check(CheckSubject(root=root), ReportOptions(style="json", redact=redact), terminal_style())
    except GpudoctorError as error:
        return [f"no report: {error}"]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding of this test
        return [f"a foreign exception: {type(error).__name__}: {error}"]
    spent_s = time.thread_time() - started
    mib = (_kib("VmHWM") - before_kib >> 10) + _PLAIN_CHECK_MIB
    found = []
    if opened := outside.opened():
        found.append(f"an escape: {opened[:5]}")
    if MARK in text:
        found.append("an escape: the report has what lies outside")
    try:
        report = json.loads(text)
    except ValueError as error:
        return [*found, f"a report that is no JSON: {error}"]
    failed = [one["summary"] for one in report["findings"] if one["code"] == "check-error"]
    if failed:
        found.append(f"a foreign exception: {failed}")
    if status not in {0, 1, 4}:
        found.append(f"status {status}")
    if spent_s > CPU_AT_MOST_S:
        found.append(f"{spent_s:.1f} s")
    if mib > MEMORY_AT_MOST_MIB:
        found.append(f"{mib} MiB")
    return found


def _reset_peak() -> int:
    """The memory in use, in KiB, from which the peak is counted anew (proc(5), clear_refs)."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
        stream.write("5")
    return _kib("VmRSS")


def _kib(name: str) -> int:
    with open("/proc/self/status", encoding="ascii") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith(f"{name}:"))
