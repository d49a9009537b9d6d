"""One layer: what its tar lists, in order, and where the content of each file can be read.

Sources: POSIX pax and GNU tar, by `tarfile`; the OCI image specification, "Image Layer Filesystem Changeset".
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any, cast

from compat.record import NamedTuple
from doctor.image import BOMB_BYTES, CHUNK_BYTES, ENTRIES_AT_MOST, Damaged, ImageError
from doctor.image.disk import Disk, Scratch
from doctor.image.keep import ZEROS, Keeper, Pieces, Stretch
from doctor.image.stream import Feed

_PATH_AT_MOST_CHARS = 4096
_HEADER_AT_MOST_BYTES = 8 << 20  # a header, its extensions and the map of a sparse file: names have 4 KiB
_PARTS_AT_MOST = 200_000  # of all sparse files of a layer that is not packed
_NOTHING = bytes(CHUNK_BYTES)
_LAST_PLACE = (1 << 63) - 1  # of a file that any system has
_PAX_RECORD = re.compile(rb"([1-9]\d{0,9}) [^=]+=", re.DOTALL)
_NOT_FILLED_UP = "unexpected end of data"  # tarfile's words where the last block is short
_BEHIND_AT_MOST_BYTES = 64 << 20  # of what lies behind the end of a layer that is not packed
_BUFFER_BYTES = 8 << 10  # headers lie apart: more would be read for nothing
_FIELDS = struct.Struct("100s8s8s8s12s12s8sc100s88x155s12x")  # name, six numbers, kind, target, prefix: POSIX, ustar
_KINDS = frozenset((b"0", b"1", b"2", b"5", b"x", b"L", b"K"))  # file, hard link, link, directory, longer names
_SUM_AT, _SUM_BYTES = 148, 8
_NUMBERS = (slice(100, 108), slice(108, 116), slice(116, 124), slice(124, 136), slice(136, 148), slice(148, 156))
_OCTAL = re.compile(rb" *[0-7]* *")  # int() takes signs, underscores and a prefix as well
_BASE_256 = (b"\x80", b"\xff")


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
    has_end: bool = True  # a tar's zeros, and nothing behind them: one that was cut short between two entries has none


class End:
    """Of a tar that was read: whether the zeros are there that mark it."""

    is_there = False


class _Header(tarfile.TarInfo):
    """A header that is damaged ends the reading with a word; tarfile takes it for the end of the archive."""

    shown = ""  # as the user knows the archive; tarfile reads the first header before it could be told
    end: End

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> Any:
        """The usual header in a third of tarfile's time, without owner's name and device; any other is tarfile's."""
        if len(buf) != _FIELDS.size:
            return super().frombuf(buf, encoding, errors)
        if buf[100:156].translate(None, b"01234567 \0"):
            _refuse_numbers(buf)
            return super().frombuf(buf, encoding, errors)
        name, *numbers, kind, target, prefix = _FIELDS.unpack(buf)
        try:
            mode, uid, gid, size, mtime, total = [int(one.rstrip(b"\0 "), 8) for one in numbers]
        except ValueError:
            return super().frombuf(buf, encoding, errors)
        if kind not in _KINDS or total != _sum_of(buf):
            return super().frombuf(buf, encoding, errors)
        found = cls(name.partition(tarfile.NUL)[0].decode(encoding, errors))
        if kind == tarfile.DIRTYPE:
            found.name = found.name.rstrip("/")
        if prefix[0] and kind not in tarfile.GNU_TYPES:
            found.name = f"{prefix.partition(tarfile.NUL)[0].decode(encoding, errors)}/{found.name}"
        found.mode, found.uid, found.gid, found.size, found.mtime = mode, uid, gid, size, mtime
        found.chksum, found.type = total, kind
        found.linkname = target.partition(tarfile.NUL)[0].decode(encoding, errors)
        return found

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> _Header:
        try:
            found = super().fromtarfile(tar)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            cls.end.is_there = True
            raise
        except tarfile.EmptyHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise Damaged(f"{cls.shown}: a damaged tar header ({error})") from error
        except (ValueError, LookupError, OverflowError, RecursionError) as error:
            raise Damaged(f"{cls.shown}: a damaged tar header ({type(error).__name__})") from error
        if found.size < 0 or tar.offset > _LAST_PLACE:  # tarfile would go back, and read the same header for ever
            raise Damaged(f"{cls.shown}: a damaged tar header (a file of {found.size} bytes)")
        return found

    def _proc_pax(self, tarfile: Any) -> Any:
        """See tarfile, which reads the records next, and passes over what is none."""
        tarfile.fileobj.pax_bytes = self.size
        return super()._proc_pax(tarfile)  # type: ignore[misc]


def _are_records(content: bytes) -> bool:
    """Whether all of it is "LENGTH KEY=VALUE" and a line end, as POSIX has it for pax; no sum is of these."""
    at, content = 0, content.rstrip(b"\0")
    while at < len(content):
        found = _PAX_RECORD.match(content, at)
        end = at + int(found[1]) if found else 0
        if not found or end <= found.end() or content[end - 1 : end] != b"\n":
            return False
        at = end
    return True


def _refuse_numbers(header: bytes) -> None:
    """Raise InvalidHeaderError for a number that is neither octal nor of base 256, as GNU's tar and Go's reader do."""
    for field in (header[place] for place in _NUMBERS):
        if not field.startswith(_BASE_256) and not _OCTAL.fullmatch(field.partition(tarfile.NUL)[0]):
            raise tarfile.InvalidHeaderError("a number that is none")  # type: ignore[attr-defined]


def _sum_of(header: bytes) -> int:
    """Of all bytes, those of the sum itself taken for spaces.

    The lower half of Adler-32 is one more than the sum of bytes modulo 65521, which 256 of them do not reach.
    """
    own = sum(header[_SUM_AT : _SUM_AT + _SUM_BYTES])
    halves = (zlib.adler32(header[:256]) & 0xFFFF) + (zlib.adler32(header[256:]) & 0xFFFF) - 2
    return halves - own + _SUM_BYTES * ord(" ")


class _Headers:
    """The file as tarfile reads it: so much for one entry, and no more; maps of sparse files have no other end."""

    def __init__(self, file: Any, shown: str) -> None:
        self.tell, self.seek = file.tell, file.seek
        self.left = _HEADER_AT_MOST_BYTES
        self._read, self._shown = file.read, shown
        self.pax_bytes = -1  # of what is read next, if that is pax records

    def read(self, size: int) -> bytes:
        """Raises Damaged for a header of absurd size."""
        self.left -= size
        if size < 0 or self.left < 0:
            raise Damaged(f"{self._shown}: a header of more than {_HEADER_AT_MOST_BYTES >> 20} MiB")
        found: bytes = self._read(size)
        if 0 <= self.pax_bytes <= size:
            if not _are_records(found[: self.pax_bytes]):
                raise Damaged(f"{self._shown}: a damaged tar header (a pax record that makes no sense)")
            self.pax_bytes = -1
        return found


def members(file: Any, shown: str, end: End) -> Iterator[tarfile.TarInfo]:
    """The headers of a tar, each before its content is read; raises Damaged, ImageError for too many."""
    found: tarfile.TarInfo | None = None
    headers: Any = _Headers(file, shown)
    try:
        header = type("_HeaderOf", (_Header,), {"shown": shown, "end": end})
        tar = tarfile.TarFile(fileobj=headers, mode="r", tarinfo=header, errors="surrogateescape")
        for _ in range(ENTRIES_AT_MOST + 1):
            headers.left = _HEADER_AT_MOST_BYTES
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
    found, holes, end = [], 0, End()
    for member in members(feed, feed.shown, end):
        stretches: tuple[Stretch, ...] = ()
        if member.isreg():
            parts = _parts(member, feed.shown)
            holes += member.size - sum(size for _, size in parts)
            feed.seek(member.offset_data)
            if holes <= BOMB_BYTES:  # more is no image; it is not kept, and said so where it is asked for
                stretches = keeper.keep(member.name, member.size, _filled(feed, parts, member.size))
        found.append(_entry(member, stretches, feed.shown))
    has_end = end.is_there and not _has_more(feed)
    feed.drain()
    return Layer(tuple(found), spool, has_end)


def read_plain(disk: Disk, shown: str, place: int = 0, size: int | None = None) -> Layer:
    """A layer that is not packed: only its headers are read, and content later, where it lies. Raises Damaged.

    `place` and `size` say where in the file the layer lies; it is the whole file without.
    """
    there = disk.size_bytes - place if size is None else size
    pieces = Pieces(there, (Stretch(0, there, place),), disk)
    found, known, end = [], 0, End()
    file = io.BufferedReader(pieces, _BUFFER_BYTES)
    for member in members(file, shown, end):
        stretches: tuple[Stretch, ...] = ()
        if member.isreg():
            parts = _parts(member, shown)
            if member.offset_data + sum(size for _, size in parts) > there:
                raise Damaged(f"{shown}: it ends in the middle of a file")
            known += len(parts) if member.issparse() else 0
            if known <= _PARTS_AT_MOST:
                stretches = tuple(_stretches(parts, member.size, place + member.offset_data))
        found.append(_entry(member, stretches, shown))
    if end.is_there and _has_more(file):
        raise Damaged(f"{shown}: entries lie behind the zeros that end it")
    return Layer(tuple(found), disk, end.is_there)


def _has_more(file: Any) -> bool:
    """Whether a header lies behind the zeros that end a tar: a sector of zeros hides all that follows it."""
    for _ in range(0, _BEHIND_AT_MOST_BYTES, tarfile.BLOCKSIZE):
        block = file.read(tarfile.BLOCKSIZE)
        if len(block) < tarfile.BLOCKSIZE:
            return False
        if any(block):
            with contextlib.suppress(tarfile.HeaderError):
                _Header.frombuf(block, "utf-8", "surrogateescape")
                return True
    return False


def _parts(member: tarfile.TarInfo, shown: str) -> list[tuple[int, int]]:
    """Place and size of what the archive holds of a file: all of it, or what lies between holes. Raises Damaged."""
    if not member.issparse():
        return [(0, member.size)]
    found, end = [], 0
    for place, size in cast("list[tuple[int, int]]", member.sparse):
        if size:  # what is left of a header's four places is zeros
            if size < 0 or not end <= place <= member.size - size:
                raise Damaged(f"{shown}: a damaged tar header (a sparse file whose parts make no sense)")
            end = place + size
            found.append((place, size))
    return found


def _stretches(parts: list[tuple[int, int]], size: int, lies_at: int) -> Iterator[Stretch]:
    """The same, and the holes, as they can be read."""
    end = 0
    for place, part in [*parts, (size, 0)]:
        if place > end:
            yield Stretch(end, place - end, ZEROS)
        if part:
            yield Stretch(place, part, lies_at)
        lies_at, end = lies_at + part, place + part


def _filled(feed: Feed, parts: list[tuple[int, int]], size: int) -> Iterator[memoryview]:
    """What comes next of the stream, with zeros where holes are."""
    for one in _stretches(parts, size, 0):
        if one.kept_at != ZEROS:
            yield from feed.take(one.size)
            continue
        for place in range(0, one.size, len(_NOTHING)):
            yield memoryview(_NOTHING)[: one.size - place]


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
