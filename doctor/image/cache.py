"""What was kept of packed layers, from one run to the next, by the digest of the layer.

A record is a file of this user's own in a directory that nobody else can change, and begins with the digest of all that
follows: one that is damaged, of another release, or another user's is no record. It holds nothing that could not be
read again from the image. GPUDOCTOR_CACHE names another directory, and an empty one turns it off.

Beside a record stand the marks of blobs that were found to have its digest (`Disk.mark`). A blob without one is summed
before the record counts: one that was put in its place is noticed, and one that is as it was is not read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from compat.base.private_dirs import open_own
from doctor import __version__
from doctor.host.cache import cache_directory
from doctor.image import CHUNK_BYTES, KEPT_AT_MOST_BYTES, keep, layer
from doctor.image.disk import Disk
from doctor.image.keep import ByteRange
from doctor.image.layer import Entry, Layer

_ALL_AT_MOST_BYTES = 1 << 30
_LIST_AT_MOST_BYTES = 256 << 20
_SUFFIX = ".layer"
_DIGEST_CHARS = 64
_MARKS_AT_MOST, _MARKS_AT_MOST_BYTES = 16, 8 << 10
_OURS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class _Record(Disk):
    """A record that was opened."""

    def __init__(self, descriptor: int) -> None:
        self._keep(descriptor)


class LayerCache:
    """The records of this user."""

    def __init__(self, *, is_used: bool) -> None:
        base = cache_directory(os.environ, "linux" if os.name == "posix" else os.name) if is_used else ""
        self._directory = f"{base}/layers" if base and os.open in os.supports_dir_fd else ""

    def get(self, digest: str) -> Layer | None:
        """The layer of that digest, None for no record."""
        try:
            with self._entered(make=False) as folder:
                return _read(os.open(_name(digest), _OURS, dir_fd=folder))
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None

    def put(self, digest: str, layer: Layer) -> None:
        """Remember a layer; where that cannot be, the next run reads it again."""
        try:
            with self._entered(make=True) as folder:
                _write(folder, _name(digest), layer)
                _make_room(folder)
        except OSError:
            return

    def was_summed(self, digest: str, mark: str) -> bool:
        """Whether a blob with this mark was found to have the digest."""
        try:
            with self._entered(make=False) as folder:
                return mark in _marks(folder, digest)
        except (OSError, ValueError):
            return False

    def summed(self, digest: str, mark: str) -> None:
        """Remember that it was; a blob without a mark may still change unseen."""
        if not mark:
            return
        try:
            with self._entered(make=True) as folder:
                marks = [mark, *(one for one in _marks(folder, digest) if one != mark)][:_MARKS_AT_MOST]
                with _replacing(folder, _marks_name(digest)) as stream:
                    stream.write("\n".join(marks).encode("ascii"))
        except (OSError, ValueError):
            return

    @contextmanager
    def _entered(self, *, make: bool) -> Iterator[int]:
        """The descriptor of the directory; raises OSError, NotOurs."""
        if not self._directory:
            raise FileNotFoundError("no cache")
        folder = open_own(self._directory, make=make)
        try:
            yield folder
        finally:
            os.close(folder)


def _name(digest: str) -> str:
    return f"{digest.replace(':', '-')}{_SUFFIX}"


def _marks_name(digest: str) -> str:
    return f"{_name(digest)}.marks"


def _marks(folder: int, digest: str) -> list[str]:
    """Raises OSError, ValueError."""
    try:
        record = _opened(os.open(_marks_name(digest), _OURS, dir_fd=folder))
    except FileNotFoundError:
        return []
    return record.read(0, _MARKS_AT_MOST_BYTES).decode("ascii").splitlines()


def _form() -> str:
    """What a record is made by: where something else is kept or listed of a file, those of before do not count."""
    total = hashlib.sha256()
    for path in (keep.__file__, layer.__file__):
        with open(path, "rb") as source:
            total.update(source.read())
    return f"gpudoctor {__version__} {total.hexdigest()}\n"


def _opened(descriptor: int) -> _Record:
    """Raises OSError for a file that is not this user's alone."""
    record = _Record(descriptor)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError("another user can change it")
    return record


def _read(descriptor: int) -> Layer:
    """Raises OSError, ValueError for what is no record."""
    record = _opened(descriptor)
    form = _form().encode()
    start = record.read(0, len(form) + _DIGEST_CHARS + 1)
    begun = len(start)
    if not start.startswith(form) or start[len(form) :].decode().strip() != _digest(record, begun):
        raise ValueError("it is damaged, or of another release")
    size = int(record.read(begun, 16))
    if size > _LIST_AT_MOST_BYTES:
        raise ValueError("a list without end")
    data = begun + 16 + size
    entries = tuple(_entry(one, data) for one in json.loads(record.read(begun + 16, size)))
    with suppress(OSError):  # a home that is read-only
        os.utime(descriptor)
    return Layer(entries, record)


def _digest(record: Disk, place: int) -> str:
    total = hashlib.sha256()
    while chunk := record.read(place, CHUNK_BYTES):
        total.update(chunk)
        place += len(chunk)
    return total.hexdigest()


def _entry(said: list[Any], data: int) -> Entry:
    *fields, stretches = said
    return Entry._make((*fields, tuple(ByteRange(place, size, data + kept_at) for place, size, kept_at in stretches)))


@contextmanager
def _replacing(folder: int, name: str) -> Iterator[BinaryIO]:
    """A file that takes the place of another wholly or not at all; raises OSError."""
    scratch = f"{name}.{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(scratch, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
        os.replace(scratch, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(scratch, dir_fd=folder)
        raise


def _write(folder: int, name: str, layer: Layer) -> None:
    """Raises OSError."""
    with _replacing(folder, name) as stream:
        form, total = _form().encode(), hashlib.sha256()
        stream.write(form + b"0" * _DIGEST_CHARS + b"\n")
        for piece in _pieces(layer):
            total.update(piece)
            stream.write(piece)
        stream.seek(len(form))
        stream.write(total.hexdigest().encode())


def _pieces(layer: Layer) -> Iterator[bytes]:
    """The list of entries with its size, then all that was kept."""
    kept_at = 0
    listed: list[tuple[object, ...]] = []
    stretches: list[ByteRange] = []
    for entry in layer.entries:
        moved = []
        for one in entry.stretches:
            moved.append((one.place, one.size, kept_at))
            kept_at += one.size
        stretches.extend(entry.stretches)
        listed.append((*entry[:-1], moved))
    content = json.dumps(listed, separators=(",", ":")).encode()
    yield b"%16d" % len(content)
    yield content
    for one in stretches:
        yield layer.source.read(one.kept_at, one.size)


def _make_room(folder: int) -> None:
    """Forget what was not asked for the longest; what a run left unfinished goes with it."""
    names = [name for name in os.listdir(folder) if _SUFFIX in name]
    known = sorted((os.stat(name, dir_fd=folder, follow_symlinks=False), name) for name in names)
    known.sort(key=lambda one: one[0].st_mtime, reverse=True)
    left = _ALL_AT_MOST_BYTES
    for status, name in known:
        left -= status.st_size
        if left < 0 or status.st_size > KEPT_AT_MOST_BYTES + _LIST_AT_MOST_BYTES:
            os.unlink(name, dir_fd=folder)
