"""Read the members of a .tar.gz, .tar.xz or .zip one after the other, in bounded memory, without believing them."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from compat.base.compression import Unpackable, unpacked
from compat.base.record import NamedTuple
from installers.digest import CHUNK_BYTES, LoginPage, looks_like_page
from installers.errors import InstallError

if TYPE_CHECKING:
    import tarfile
    import zipfile

_XZ_MEMORY_BYTES = 40 << 20  # `xz -6`, with which NVIDIA packs, needs 9 MiB; -8 needs 33
_MOST_AT_ONCE_BYTES = 4 << 20  # a tar header that asks for more is an attack on our memory
_MOST_DIRECTORY_BYTES = 16 << 20  # of a .zip, which is read as a whole
_INPUT_BYTES = 1 << 18
_LATEST_S = 4102444800.0  # the year 2100; later times overflow on some file systems
_MODES = 0o755  # the most that a member may have: nobody else writes to it, and nothing runs as another user


class UnsafeArchive(InstallError):
    """An archive that would write where it must not, or more than it may."""

    hint = "Do not unpack this archive: download it from its publisher again."


class BadArchive(InstallError):
    """A file that is no archive, or a damaged one."""

    hint = "Fetch the file again."


class Member(NamedTuple):
    """One thing in an archive; `name` is relative, clean, written with "/", and "" for the root itself."""

    name: str
    kind: str  # "file", "directory", "link", "same": another name of a file before it
    mode: int  # permission bits
    mtime_s: float
    link: str  # text of a link, or the name of that file
    chunks: Iterator[bytes]


def members(file: BinaryIO) -> Iterator[Member]:
    """The members of an archive that is open, in their order; raises LoginPage, BadArchive, UnsafeArchive, OSError.

    The chunks of a member must be read before the next member is asked for; both inside `damage_named`. Meanwhile
    `file.tell()` says how far the archive is read.
    """
    return _reader_of(file)(file)


@contextmanager
def damage_named(archive: str) -> Iterator[None]:
    """What the readers of the formats raise for a damaged archive becomes BadArchive."""
    import tarfile
    import zipfile
    import zlib

    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, Unpackable, EOFError) as error:
        raise BadArchive(f"{archive} is damaged ({error})") from error
    except (struct.error, ValueError, NotImplementedError, RuntimeError) as error:
        raise BadArchive(f"{archive} cannot be read ({error})") from error
    except OSError as error:
        if error.errno != errno.EINVAL or error.filename is not None:
            raise
        raise BadArchive(f"{archive} is damaged: a position in it is before its start") from error


def clean_name(name: str) -> str:
    """A name as a relative path without "." parts; raises UnsafeArchive for one that is absolute or climbs out.

    A colon makes a drive or a hidden stream on Windows; a backslash is a separator there.
    """
    parts = [part for part in name.split("/") if part not in {"", "."}]
    odd = is_absolute(name) or "\\" in name or ":" in name or not name.isprintable()
    if odd or ".." in parts or len(name) > 4096 or len(parts) > 64 or any(len(os.fsencode(one)) > 255 for one in parts):
        raise UnsafeArchive(f"the archive contains the name {name[:200]!r}")
    return "/".join(parts)


def is_absolute(name: str) -> bool:
    """Whether a name is absolute on Linux or on Windows."""
    return name.startswith(("/", "\\")) or name[1:2] == ":"


def _reader_of(file: BinaryIO) -> Callable[[BinaryIO], Iterator[Member]]:
    start = file.read(512)
    file.seek(0)
    if looks_like_page(start):
        raise LoginPage(file.name)
    for magic, read in _READERS:
        if start.startswith(magic):
            return read
    seen = start[:6].hex(" ") or "(it is empty)"
    raise BadArchive(f"{file.name} is not a .tar.gz, .tar.xz or .zip file: it begins with the bytes {seen}")


class _Forward:
    """Chunks as a file that is only read forward, for tarfile."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._offset = 0

    def tell(self) -> int:
        return self._offset

    def read(self, size_bytes: int) -> bytes:
        """At most so many bytes, fewer at the end only."""
        if not 0 <= size_bytes <= _MOST_AT_ONCE_BYTES:
            raise UnsafeArchive(f"a header in the archive claims {size_bytes} bytes")
        found = bytearray()
        while len(found) < size_bytes and self._fill():
            found += self._take(size_bytes - len(found))
        return bytes(found)

    def seek(self, offset: int) -> None:
        """Skip forward."""
        if offset < self._offset:
            raise ValueError("its headers are in the wrong order")
        while self._offset < offset and self._fill():
            self._take(offset - self._offset)

    def _fill(self) -> bool:
        """Whether there is anything left."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return False
            self._rest = memoryview(chunk)
        return True

    def _take(self, most_bytes: int) -> memoryview:
        taken, self._rest = self._rest[:most_bytes], self._rest[most_bytes:]
        self._offset += len(taken)
        return taken


def _tar_of(packing: str) -> Callable[[BinaryIO], Iterator[Member]]:
    def read(file: BinaryIO) -> Iterator[Member]:
        import tarfile

        packed = iter(lambda: file.read(_INPUT_BYTES), b"")
        stream = _Forward(
            unpacked(packed, packing, window_bytes=_XZ_MEMORY_BYTES, piece_bytes=CHUNK_BYTES, behind="ignore")
        )
        with tarfile.TarFile(fileobj=cast("BinaryIO", stream)) as tar:
            while (info := tar.next()) is not None:
                vars(tar)["members"].clear()  # it would keep every header of a long archive
                yield _tar_member(stream, info)
        while stream.read(CHUNK_BYTES):  # to the end, where the checksum stands
            pass

    return read


def _tar_member(stream: _Forward, info: tarfile.TarInfo) -> Member:
    kinds = ((info.isreg(), "file"), (info.isdir(), "directory"), (info.issym(), "link"), (info.islnk(), "same"))
    kind = next((kind for true, kind in kinds if true), "")
    if not kind or info.issparse():
        raise UnsafeArchive(f"the archive contains {info.name!r}, which is not a file, directory or link")
    mtime_s = min(max(float(info.mtime), 0.0), _LATEST_S)
    return Member(
        name=clean_name(info.name),
        kind=kind,
        mode=info.mode & _MODES,
        mtime_s=mtime_s,
        link=info.linkname,
        chunks=_tar_chunks(stream, info),
    )


def _tar_chunks(stream: _Forward, info: tarfile.TarInfo) -> Iterator[bytes]:
    """Where tarfile has read a header, the content begins."""
    left_bytes = info.size if info.isreg() else 0
    while left_bytes > 0:
        chunk = stream.read(min(CHUNK_BYTES, left_bytes))
        if not chunk:
            raise EOFError("it ends too early")
        left_bytes -= len(chunk)
        yield chunk


def _unzipped(file: BinaryIO) -> Iterator[Member]:
    import zipfile

    _refuse_large_directory(file)
    with zipfile.ZipFile(file) as zipped:
        for info in zipped.infolist():
            yield _zip_member(zipped, info)


def _refuse_large_directory(file: BinaryIO) -> None:
    """The end of a .zip tells how large its directory is, which zipfile reads as a whole."""
    file.seek(max(os.fstat(file.fileno()).st_size - (1 << 16), 0))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    size_bytes = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if size_bytes > _MOST_DIRECTORY_BYTES:
        raise UnsafeArchive(f"the archive has a directory of {size_bytes} bytes")


def _zip_member(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    # zipfile turns "\\" into "/" on Windows only and cuts a name at its NUL: the name as it stands is what counts.
    name, unix_mode = info.orig_filename, info.external_attr >> 16
    kind = {stat.S_IFLNK: "link", stat.S_IFDIR: "directory", stat.S_IFREG: "file", 0: "file"}.get(
        stat.S_IFMT(unix_mode)
    )
    if kind is None or info.flag_bits & 1:
        raise UnsafeArchive(f"the archive holds {name!r}, which is {'encrypted' if kind else 'no file or directory'}")
    if name.endswith("/"):
        kind = "directory"
    link = _zip_link(zipped, info) if kind == "link" else ""
    mode = unix_mode & _MODES or (0o755 if kind == "directory" else 0o644)
    chunks = _zip_chunks(zipped, info) if kind == "file" else iter(())
    return Member(name=clean_name(name), kind=kind, mode=mode, mtime_s=_zip_time(info), link=link, chunks=chunks)


def _zip_time(info: zipfile.ZipInfo) -> float:
    """A .zip keeps local time without saying of where; in dates that no calendar has, too."""
    import time

    try:
        return min(max(time.mktime((*info.date_time, 0, 0, -1)), 0.0), _LATEST_S)
    except (OverflowError, ValueError):
        return 0.0


def _zip_link(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    with zipped.open(info) as file:
        return os.fsdecode(file.read(4097))


def _zip_chunks(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with zipped.open(info) as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


_READERS: tuple[tuple[bytes, Callable[[BinaryIO], Iterator[Member]]], ...] = (
    (b"\x1f\x8b", _tar_of("gzip")),
    (b"\xfd7zXZ\x00", _tar_of("xz")),
    (b"PK\x03\x04", _unzipped),
)
