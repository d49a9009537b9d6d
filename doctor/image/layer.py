"""One layer: what its tar lists, in order, and where the content of each file can be read.

Sources: POSIX pax and GNU tar, by `tarfile`; the OCI image specification, "Image Layer Filesystem Changeset".
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import Any

from compat.record import NamedTuple
from doctor.image import ENTRIES_AT_MOST, Damaged, ImageError
from doctor.image.disk import Disk, Scratch
from doctor.image.keep import Keeper, Pieces, Stretch
from doctor.image.stream import Feed

_PATH_AT_MOST_CHARS = 4096
_NOT_FILLED_UP = "unexpected end of data"  # tarfile's words where the last block is short
_BUFFER_BYTES = 8 << 10  # headers lie apart: more would be read for nothing


class Entry(NamedTuple):
    """One line of a layer's tar."""

    name: str  # as it is written
    kind: str  # "file", "dir", "link", "hard" (another name of a file), "other" (device, FIFO)
    mode: int
    uid: int
    gid: int
    size_bytes: int
    mtime: float
    target: str  # of a link; of a hard link the other name
    stretches: tuple[Stretch, ...]  # of the content, those that can be read


def directory() -> Entry:
    """One that no layer lists, as what unpacks makes it."""
    return Entry(name="", kind="dir", mode=0o755, uid=0, gid=0, size_bytes=0, mtime=0.0, target="", stretches=())


class Layer(NamedTuple):
    """The entries of a layer, and what their content is read from."""

    entries: tuple[Entry, ...]
    source: Disk


class _Header(tarfile.TarInfo):
    """A header that is damaged ends the reading with a word; tarfile takes it for the end of the archive."""

    shown = ""  # as the user knows the archive; tarfile reads the first header before it could be told

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> _Header:
        try:
            found = super().fromtarfile(tar)
        except (tarfile.EOFHeaderError, tarfile.EmptyHeaderError):  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise Damaged(f"{cls.shown}: a damaged tar header ({error})") from error
        except (ValueError, LookupError, OverflowError, RecursionError) as error:
            raise Damaged(f"{cls.shown}: a damaged tar header ({type(error).__name__})") from error
        if found.size < 0:  # tarfile would go back, and read the same header for ever
            raise Damaged(f"{cls.shown}: a damaged tar header (a file of {found.size} bytes)")
        return found


def members(file: Any, shown: str) -> Iterator[tarfile.TarInfo]:
    """The headers of a tar, each before its content is read; raises Damaged, ImageError for too many."""
    found: tarfile.TarInfo | None = None
    try:
        header = type("_HeaderOf", (_Header,), {"shown": shown})
        tar = tarfile.TarFile(fileobj=file, mode="r", tarinfo=header, errors="surrogateescape")
        for _ in range(ENTRIES_AT_MOST + 1):
            found = tar.next()
            if found is None:
                return
            vars(tar)["members"].clear()  # tarfile keeps them all
            yield found
    except tarfile.TarError as error:
        if str(error) == _NOT_FILLED_UP and found is not None:
            return  # content that is missing was noticed when it was read
        raise Damaged(f"{shown}: it is no tar archive, or cut short ({error})") from error
    raise ImageError(f"{shown}: more than {ENTRIES_AT_MOST} files")


def read_packed(feed: Feed, spool: Scratch) -> Layer:
    """A layer that streams by; what probes may read of its files is kept in the spool. Raises Damaged."""
    keeper = Keeper(spool)
    found = []
    for member in members(feed, feed.shown):
        stretches: tuple[Stretch, ...] = ()
        if member.isreg() and not member.issparse():
            feed.seek(member.offset_data)
            stretches = keeper.keep(member.name, member.size, feed.take(member.size))
        found.append(_entry(member, stretches, feed.shown))
    feed.drain()
    return Layer(tuple(found), spool)


def read_plain(disk: Disk, shown: str, place: int = 0, size: int | None = None) -> Layer:
    """A layer that is not packed: only its headers are read, and content later, where it lies. Raises Damaged.

    `place` and `size` say where in the file the layer lies; it is the whole file without.
    """
    there = disk.size_bytes - place if size is None else size
    pieces = Pieces(there, (Stretch(0, there, place),), disk)
    found = []
    for member in members(io.BufferedReader(pieces, _BUFFER_BYTES), shown):
        stretches: tuple[Stretch, ...] = ()
        if member.isreg() and not member.issparse():
            if member.offset_data + member.size > there:
                raise Damaged(f"{shown}: it ends in the middle of a file")
            stretches = (Stretch(0, member.size, place + member.offset_data),)
        found.append(_entry(member, stretches, shown))
    return Layer(tuple(found), disk)


def _entry(member: tarfile.TarInfo, stretches: tuple[Stretch, ...], shown: str) -> Entry:
    if len(member.name) > _PATH_AT_MOST_CHARS or "\0" in member.name:
        raise Damaged(f"{shown}: a file's name of {len(member.name)} characters")
    return Entry(
        name=member.name,
        kind=_kind(member),
        mode=member.mode & 0o7777,
        uid=member.uid,
        gid=member.gid,
        size_bytes=member.size if member.isreg() else 0,
        mtime=float(member.mtime),
        target=member.linkname,
        stretches=stretches,
    )


def _kind(member: tarfile.TarInfo) -> str:
    if member.isreg():
        return "file"
    if member.isdir():
        return "dir"
    if member.issym():
        return "link"
    return "hard" if member.islnk() else "other"
