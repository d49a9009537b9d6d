"""Real wheels without their bulk: every file as pip lays it, in ELF files holes where machine code and kernels were.

The loader's rules, the readers of `doctor/binaries` and the rules of `check` read headers, names, versions, constants
and the headers of GPU code. What they never read (the code itself) is 95 % of a framework, and would be unpacked for
every run of the tests; so a wheel is downloaded once, emptied, and thrown away. Nothing of this can be run.
"""

from __future__ import annotations

import ctypes
import email
import fcntl
import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.wheels import CACHE, fetch_into

_STUB = "only-metadata"
_IS_NO_PLAIN_PACKAGE = re.compile(r"nvidia-|cuda-|torch|triton|jax|tensorflow|cupy|xformers|onnxruntime|pytorch-triton")
_READ = (".rodata", ".data", ".dyn", ".gnu.", ".hash", ".note", ".shstrtab", ".interp", ".nvFatBinSegment")
_KERNELS = (".nv_fatbin", "__nv_relfatbin")
_MAGIC = b"\x50\xed\x55\xba"
_HEAD = struct.Struct("<4sHHQ")  # a container: magic, version, size of this header, size of the entries
_ENTRY = struct.Struct("<HHIQ")  # an entry: kind, version, size of its header, size of its code
_PUNCH = 1 | 2  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE
_BLOCK_BYTES = 4096


def distilled(requirement: str, python: str = "3.11") -> Path:
    """The site directory of one pinned wheel, distilled; made once."""
    folder = CACHE / "distilled" / re.sub(r"[^\w.]+", "-", f"{requirement}-py{python}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # pytest-xdist: one worker downloads, the others wait
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=folder.parent) as work:
                wheel = fetch_into(Path(work), requirement, python=python, keep=False)
                _lay(wheel, Path(work) / "site")
                (Path(work) / "site").rename(folder)
    return folder


def lay(requirements: Iterable[str], site: Path, python: str = "3.11") -> None:
    """Distilled wheels in a site directory, as links where that can be: none of the files may be changed in place.

    What they require beside libraries of NVIDIA's and frameworks (sympy, filelock) is there by name.
    """
    for stub in site.glob(f"*.dist-info/{_STUB}"):
        shutil.rmtree(stub.parent)
    for requirement in requirements:
        source = distilled(
            requirement, "3.11" if requirement.startswith("nvidia-") else python
        )  # theirs suit every one
        for folder, _, names in os.walk(source):
            target = site / os.path.relpath(folder, source)
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                _link(Path(folder) / name, target / name)
    _lay_plain_requirements(site)


def _lay_plain_requirements(site: Path) -> None:
    """Lay the metadata of each pure Python package that is required and not there, at the release that is asked for."""
    there = {canonicalize_name(one.name.split("-")[0]) for one in site.glob("*.dist-info")}
    for metadata in tuple(site.glob("*.dist-info/METADATA")):
        told = email.message_from_string(metadata.read_text(encoding="utf-8", errors="replace"))
        for text in told.get_all("Requires-Dist") or ():
            required = Requirement(text)
            name = canonicalize_name(required.name)
            is_meant = not required.marker or required.marker.evaluate({"extra": ""})
            if name in there or not is_meant or _IS_NO_PLAIN_PACKAGE.match(name):
                continue
            there.add(name)
            asked = [one.version.rstrip(".*") for one in required.specifier if one.operator in {">=", "==", "~="}]
            release = max(asked, key=Version, default="1")
            folder = site / f"{name.replace('-', '_')}-{release}.dist-info"
            folder.mkdir()
            (folder / _STUB).touch()
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n")
            (folder / "RECORD").touch()


def _link(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _lay(wheel: Path, site: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = Path(archive.extract(member, site))
            if path.is_file() and ".so" in path.name:
                hollow(path)
            elif path.is_file() and member.external_attr >> 16 & stat.S_IXUSR:
                path.chmod(0o755)


def hollow(path: Path) -> None:
    """Punch the code out of an ELF file; what is no ELF file, or lies on a system without holes, stays as it is."""
    with path.open("r+b") as file:
        if file.read(4) != b"\x7fELF":
            return
        sections = [
            (one.name, one["sh_offset"], one["sh_size"], one["sh_type"]) for one in ELFFile(file).iter_sections()
        ]
        for name, offset, size, kind in sections:
            if name in _KERNELS:
                for start, end in _kernels(file.fileno(), offset, offset + size):
                    _punch(file.fileno(), start, end)
            elif kind != "SHT_NOBITS" and not name.startswith(_READ):
                _punch(file.fileno(), offset, offset + size)


def _kernels(descriptor: int, place: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the code of each entry lies; the rest of the section stays where a container is not understood."""
    while place + _HEAD.size <= end:
        magic, _, header, size = _HEAD.unpack(os.pread(descriptor, _HEAD.size, place))
        if magic != _MAGIC:
            place += 8  # containers are aligned, with zeros between them
            continue
        entry, limit = place + header, place + header + size
        while entry + _ENTRY.size <= limit:
            _, _, head, code = _ENTRY.unpack(os.pread(descriptor, _ENTRY.size, entry))
            if head < _ENTRY.size:
                break
            yield entry + head, min(entry + head + code, limit)
            entry += head + code
        place = limit


def _punch(descriptor: int, start: int, end: int) -> None:
    """Give the whole blocks between two places back to the file system; they read as zeros."""
    start = -(-start // _BLOCK_BYTES) * _BLOCK_BYTES
    length = end // _BLOCK_BYTES * _BLOCK_BYTES - start
    if length > 0:
        libc = ctypes.CDLL(None)
        libc.fallocate(descriptor, _PUNCH, ctypes.c_int64(start), ctypes.c_int64(length))
