"""One layer: what its tar lists, in order, and where the content of each file can be read.

Sources: POSIX pax and GNU tar, by `tarfile`; the OCI image specification, "Image Layer Filesystem Changeset".
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import struct
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any, cast

from compat.base.record import NamedTuple
from doctor.image import BOMB_BYTES, CHUNK_BYTES, ENTRIES_AT_MOST, Damaged, ImageError
from doctor.image.disk import Disk, Scratch
from doctor.image.keep import ZEROS, ByteRange, PartialExtractor
from doctor.image.stream import Feed

_PATH_AT_MOST_CHARS = 4096
_HEADER_AT_MOST_BYTES = 8 << 20  # a header, its extensions and the map of a sparse file: names have 4 KiB
_PARTS_AT_MOST = 200_000  # of all sparse files of a layer that is not packed
_NOTHING = bytes(CHUNK_BYTES)
_LAST_PLACE = (1 << 63) - 1  # of a file that any system has
_PAX_RECORD = re.compile(rb"([1-9]\d{0,9}) ([^=]+)=", re.DOTALL)
_BEHIND_AT_MOST_BYTES = 64 << 20  # of what lies behind the end of a layer that is not packed
_BLOCK_BYTES = 512
_READ_BYTES = 8 << 10  # of a layer that is not packed at once; headers lie apart: more would be read for nothing
_FIELDS = struct.Struct("100s24s12s12s8sc100s6s82x155s12x")  # name, five numbers, kind, target, magic, prefix: ustar
_USTAR = b"ustar\0"  # where GNU's headers, which say "ustar ", have a prefix, its incremental archives have times
_PREFIX, _MAGIC = slice(345, 500), slice(257, 263)
_NUMBERS_AT, _NUMBERS_END = 100, 156
_LISTED = {b"0": "file", b"1": "hard", b"2": "link", b"5": "dir"}
_KINDS = frozenset((*_LISTED, b"x", b"L", b"K"))  # and longer names, of POSIX and GNU
_FOR_ALL, _OF_ONE = b"g", frozenset((b"path", b"linkpath", b"size"))  # pax headers, and what no two files share
_DUMPED = b"D"  # of GNU's incremental archives: a directory, with the list of what is in it
_NO_FILES = (b"V", b"M")  # of GNU as well: the name of a volume, and what goes on from the one before
_NUMBERS = (slice(100, 108), slice(108, 116), slice(116, 124), slice(124, 136), slice(136, 148), slice(148, 156))
_OCTAL = re.compile(rb" *[0-7]* *")  # int() takes signs, underscores and a prefix as well
_BASE_256 = (b"\x80", b"\xff")
_ENCODING, _ERRORS = "utf-8", "surrogateescape"


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
    stretches: tuple[ByteRange, ...]  # of the content, those that can be read


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


_Usual = tuple[str, int, int, int, int, int, bytes, str]  # name, mode, user, group, size, mtime, kind, target


def usual_header(block: bytes, at: int) -> _Usual | None:
    """What a header says, without owner's name and device, in a tenth of tarfile's time; None for what is left to it.

    It is ustar or GNU's, its sum right, its numbers octal digits, its kind a usual one.
    """
    if block[at + _NUMBERS_AT : at + _NUMBERS_END].translate(None, b"01234567 \0"):
        return None
    name, owner, size, mtime, total, kind, target, magic, prefix = _FIELDS.unpack_from(block, at)
    if kind not in _KINDS:
        return None
    try:
        mode, uid, gid = _owner(owner)
        size, mtime = int(size.rstrip(b"\0 "), 8), int(mtime.rstrip(b"\0 "), 8)
        if _others(total) != _sum_of(block, at):
            return None
    except ValueError:
        return None
    path = name.partition(b"\0")[0].decode(_ENCODING, _ERRORS)
    if prefix[0] and magic == _USTAR and kind not in tarfile.GNU_TYPES:
        path = f"{prefix.partition(tarfile.NUL)[0].decode(_ENCODING, _ERRORS)}/{path}"
    if path[-1:] == "/":
        if kind == tarfile.REGTYPE:
            return None
        path = path.rstrip("/") if kind == tarfile.DIRTYPE else path
    to = target.partition(b"\0")[0].decode(_ENCODING, _ERRORS) if target[0] else ""
    return path, mode, uid, gid, size, mtime, kind, to


@functools.lru_cache(maxsize=4096)
def _owner(field: bytes) -> tuple[int, ...]:
    """Mode, user, and group, which many files share; raises ValueError."""
    return tuple(int(field[at : at + 8].rstrip(b"\0 "), 8) for at in range(0, len(field), 8))


@functools.lru_cache(maxsize=4096)
def _others(total: bytes) -> int:
    """The sum of all bytes by its field, for which spaces count in it; raises ValueError."""
    return int(total.rstrip(b"\0 "), 8) - len(total) * ord(" ") + sum(total)


def _sum_of(block: bytes, at: int) -> int:
    """Of all bytes of a header: the lower half of Adler-32 is one more than that of up to 256 of them."""
    middle, end = at + _BLOCK_BYTES // 2, at + _BLOCK_BYTES
    return (zlib.adler32(block[at:middle]) & 0xFFFF) + (zlib.adler32(block[middle:end]) & 0xFFFF) - 2


class _Header(tarfile.TarInfo):
    """One that tarfile reads; those behind pax records and longer names are mostly usual ones, too."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> Any:
        """See tarfile."""
        return cls._quick(super().frombuf, buf, encoding, errors)

    @classmethod
    def _frombuf(cls, buf: Any, encoding: str, errors: str, **asked: Any) -> Any:
        """What later releases of Python call in place of it."""
        return cls._quick(functools.partial(super()._frombuf, **asked), buf, encoding, errors)  # type: ignore[misc]

    @classmethod
    def _quick(cls, otherwise: Callable[..., Any], buf: bytes, encoding: str, errors: str) -> Any:
        usual = usual_header(buf, 0) if len(buf) == _BLOCK_BYTES else None
        if usual is None:
            _refuse_numbers(buf)
            return _without_times(otherwise(buf, encoding, errors), buf)
        found = cls()
        found.name, found.mode, found.uid, found.gid, found.size, found.mtime, found.type, found.linkname = usual
        return found

    def _proc_pax(self, tarfile: Any) -> Any:
        """See tarfile, which reads the records next, and passes over what is none.

        Those for all headers that follow count for nothing, as for what unpacks layers (archive/tar of Go).
        """
        tarfile.fileobj.pax_bytes, tarfile.fileobj.is_for_all = self.size, self.type == _FOR_ALL
        if self.type != _FOR_ALL:
            return super()._proc_pax(tarfile)  # type: ignore[misc]
        tarfile.fileobj.read(self.size + -self.size % _BLOCK_BYTES)
        return self.fromtarfile(tarfile)


def _without_times(found: tarfile.TarInfo, header: bytes) -> tarfile.TarInfo:
    """The same without what tarfile takes for the first part of a name."""
    if header[_PREFIX][0] and header[_MAGIC] != _USTAR and found.type not in tarfile.GNU_TYPES:
        taken = header[_PREFIX].partition(tarfile.NUL)[0].decode(_ENCODING, _ERRORS)
        found.name = found.name[len(taken) + 1 :]
    return found


def _are_records(content: bytes, *, is_for_all: bool) -> bool:
    """Whether all of it is "LENGTH KEY=VALUE" and a line end, as POSIX has it for pax; no sum is of these."""
    at, content = 0, content.rstrip(b"\0")
    while at < len(content):
        found = _PAX_RECORD.match(content, at)
        end = at + int(found[1]) if found else 0
        if not found or end <= found.end() or content[end - 1 : end] != b"\n":
            return False
        if found[2] == b"size" and not content[found.end() : end - 1].isdigit():  # tarfile takes it for 0
            return False
        if is_for_all and found[2] in _OF_ONE:
            return False
        at = end
    return True


def _refuse_numbers(header: bytes) -> None:
    """Raise InvalidHeaderError for a number that is neither octal nor of base 256, as GNU's tar and Go's reader do."""
    for field in (header[place] for place in _NUMBERS):
        if not field.startswith(_BASE_256) and not _OCTAL.fullmatch(field.partition(tarfile.NUL)[0]):
            raise tarfile.InvalidHeaderError("a number that is none")  # type: ignore[attr-defined]


class _Headers:
    """The feed as tarfile reads it: so much for one entry, and no more; maps of sparse files have no other end."""

    def __init__(self, feed: Feed) -> None:
        self.tell = feed.tell
        self.left = _HEADER_AT_MOST_BYTES
        self._feed = feed
        self.pax_bytes = -1  # of what is read next, if that is pax records
        self.is_for_all = False

    def read(self, size: int) -> bytes:
        """Raises Damaged for a header of absurd size."""
        self.left -= size
        if size < 0 or self.left < 0:
            raise Damaged(f"{self._feed.shown}: a header has more than {_HEADER_AT_MOST_BYTES >> 20} MiB")
        found = self._feed.read(size)
        if 0 <= self.pax_bytes <= size:
            if not _are_records(found[: self.pax_bytes], is_for_all=self.is_for_all):
                raise Damaged(f"{self._feed.shown}: a damaged tar header (a pax record that makes no sense)")
            self.pax_bytes = -1
        return found


Part = tuple[int, int]  # place and size of what the archive holds of a file, between holes
Content = Callable[[str, int, "list[Part] | None"], tuple[ByteRange, ...]]  # None for a file without holes


def entries_of(feed: Feed, end: End, content: Content) -> Iterator[Entry]:
    """The entries of a tar; `content` is asked where the feed stands at that of a file, and may read it.

    Raises Damaged, and ImageError for too many.
    """
    unusual = _Unusual(feed, end)
    for _ in range(ENTRIES_AT_MOST + 1):
        usual = usual_header(feed.block, feed.at) if feed.has(_BLOCK_BYTES) else None
        kind = _LISTED.get(usual[6]) if usual else None
        if usual and kind:
            name, mode, uid, gid, size, mtime, _, target = usual
            size = size if kind == "file" else 0
            feed.at += _BLOCK_BYTES
            next_at = feed.tell() + size + -size % _BLOCK_BYTES
            stretches = content(name, size, None) if kind == "file" else ()
            yield Entry(
                name=name,
                kind=kind,
                mode=mode & 0o7777,
                uid=uid,
                gid=gid,
                size_bytes=size,
                mtime=float(mtime),
                target=target,
                stretches=stretches,
            )
        else:
            member = unusual.next()
            if member is None:
                return
            next_at = unusual.next_at
            entry = _entry(member, feed.shown)
            if entry.kind == "file":
                parts = _parts(member, feed.shown)
                entry = entry._replace(stretches=content(entry.name, entry.size_bytes, parts))
            if member.type not in _NO_FILES:
                yield entry
        to_skip = next_at - feed.tell()
        if to_skip < 0:
            raise Damaged(f"{feed.shown}: a header leads backwards")
        if to_skip and (missing := feed.skip(to_skip)):
            if missing > _BLOCK_BYTES:
                raise Damaged(f"{feed.shown}: it ends in the middle of a file")
            return  # a last file is not filled up, as umoci leaves it
    raise ImageError(f"{feed.shown}: more than {ENTRIES_AT_MOST} files")


class _Unusual:
    """The headers that tarfile reads."""

    def __init__(self, feed: Feed, end: End) -> None:
        self._feed, self._end = feed, end
        self._headers = _Headers(feed)
        nothing = io.BytesIO(bytes(2 * _BLOCK_BYTES))
        tar: Any = tarfile.TarFile(fileobj=nothing, tarinfo=_Header, encoding=_ENCODING, errors=_ERRORS)
        tar.fileobj = self._headers
        self._tar = tar

    @property
    def next_at(self) -> int:
        """Where the header behind the last one lies."""
        place: int = self._tar.offset
        return place

    def next(self) -> tarfile.TarInfo | None:
        """None at the end; raises Damaged."""
        shown, is_first = self._feed.shown, not self._feed.tell()
        self._headers.left = _HEADER_AT_MOST_BYTES
        try:
            found = _Header.fromtarfile(self._tar)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            self._end.is_there = True
            return None
        except tarfile.EmptyHeaderError as error:  # type: ignore[attr-defined]
            if is_first:
                raise Damaged(f"{shown}: it is not a tar archive, or is truncated (empty file)") from error
            return None
        except tarfile.TarError as error:
            raise Damaged(f"{shown}: a damaged tar header ({error})") from error
        except (ValueError, LookupError, OverflowError, RecursionError) as error:
            raise Damaged(f"{shown}: a damaged tar header ({type(error).__name__})") from error
        if found.size < 0 or self._tar.offset > _LAST_PLACE:
            raise Damaged(f"{shown}: a damaged tar header (a file of {found.size} bytes)")
        return found


def read_packed(feed: Feed, spool: Scratch) -> Layer:
    """A layer that streams by; what probes may read of its files is kept in the spool. Raises Damaged."""
    keeper = PartialExtractor(spool)
    holes, end = 0, End()

    def keep(name: str, size: int, parts: list[Part] | None) -> tuple[ByteRange, ...]:
        nonlocal holes
        if parts is None:
            return keeper.keep(name, size, feed.take(size))
        holes += size - sum(part for _, part in parts)
        if holes > BOMB_BYTES:  # more is no image; it is not kept, and said so where it is asked for
            return ()
        return keeper.keep(name, size, _filled(feed, parts, size))

    found = tuple(entries_of(feed, end, keep))
    has_end = end.is_there and not _has_more(feed)
    feed.drain()
    return Layer(found, spool, has_end)


class _Lying(Feed):
    """A tar that is in a file: what is passed over is not read."""

    def __init__(self, disk: Disk, shown: str, place: int, size: int) -> None:
        super().__init__(iter(()), shown)
        self.size_bytes = size
        self._disk, self._place = disk, place

    def more(self) -> bool:
        """See Feed."""
        self._begin, self.at = self.tell(), 0
        self.block = self._disk.read(self._place + self._begin, min(_READ_BYTES, self.size_bytes - self._begin))
        return bool(self.block)

    def has(self, size: int) -> bool:
        """See Feed."""
        if len(self.block) - self.at < size:
            self.more()
        return len(self.block) >= size + self.at

    def skip(self, size: int) -> int:
        """See Feed."""
        missing = max(0, self.tell() + size - self.size_bytes)
        self.at += size - missing
        return missing


def read_plain(disk: Disk, shown: str, place: int = 0, size: int | None = None) -> Layer:
    """A layer that is not packed: only its headers are read, and content later, where it lies. Raises Damaged.

    `place` and `size` say where in the file the layer lies; it is the whole file without.
    """
    feed = _Lying(disk, shown, place, disk.size_bytes - place if size is None else size)
    known, end = 0, End()

    def stretches_of(_: str, size: int, parts: list[Part] | None) -> tuple[ByteRange, ...]:
        nonlocal known
        there = [(0, size)] if parts is None else parts
        if feed.tell() + sum(part for _, part in there) > feed.size_bytes:
            raise Damaged(f"{shown}: it ends in the middle of a file")
        known += len(parts or ())
        return tuple(_stretches(there, size, place + feed.tell())) if known <= _PARTS_AT_MOST else ()

    found = tuple(entries_of(feed, end, stretches_of))
    if end.is_there and _has_more(feed):
        raise Damaged(f"{shown}: entries lie behind the zeros that end it")
    return Layer(found, disk, end.is_there)


def _has_more(feed: Feed) -> bool:
    """Whether a header lies behind the zeros that end a tar: a sector of zeros hides all that follows it."""
    for _ in range(0, _BEHIND_AT_MOST_BYTES, _BLOCK_BYTES):
        block = feed.read(_BLOCK_BYTES)
        if len(block) < _BLOCK_BYTES:
            return False
        if any(block):
            with contextlib.suppress(tarfile.HeaderError):
                _Header.frombuf(block, _ENCODING, _ERRORS)
                return True
    return False


def _parts(member: tarfile.TarInfo, shown: str) -> list[Part] | None:
    """What the archive holds of a file between its holes, None for all of it; raises Damaged."""
    if not member.issparse():
        return None
    found, end = [], 0
    for place, size in cast("list[Part]", member.sparse):
        if size:  # what is left of a header's four places is zeros
            if size < 0 or not end <= place <= member.size - size:
                raise Damaged(f"{shown}: a damaged tar header (a sparse file whose parts make no sense)")
            end = place + size
            found.append((place, size))
    return found


def _stretches(parts: list[Part], size: int, lies_at: int) -> Iterator[ByteRange]:
    """The same, and the holes, as they can be read."""
    end = 0
    for place, part in [*parts, (size, 0)]:
        if place > end:
            yield ByteRange(end, place - end, ZEROS)
        if part:
            yield ByteRange(place, part, lies_at)
        lies_at, end = lies_at + part, place + part


def _filled(feed: Feed, parts: list[Part], size: int) -> Iterator[memoryview]:
    """What comes next of the stream, with zeros where holes are."""
    for one in _stretches(parts, size, 0):
        if one.kept_at != ZEROS:
            yield from feed.take(one.size)
            continue
        for place in range(0, one.size, len(_NOTHING)):
            yield memoryview(_NOTHING)[: one.size - place]


def _entry(member: tarfile.TarInfo, shown: str) -> Entry:
    kind = _kind(member)
    if len(member.name) > _PATH_AT_MOST_CHARS or "\0" in member.name:
        raise Damaged(f"{shown}: a file's name of {len(member.name)} characters")
    return Entry(
        name=member.name,
        kind=kind,
        mode=member.mode & 0o7777,
        uid=member.uid,
        gid=member.gid,
        size_bytes=member.size if kind == "file" else 0,
        mtime=float(member.mtime),
        target=member.linkname,
        stretches=(),
    )


def _kind(member: tarfile.TarInfo) -> str:
    """As POSIX and GNU tar have it, an unknown kind is a file, and one whose name ends in a slash a directory."""
    is_file = member.isreg() or member.type not in (*tarfile.SUPPORTED_TYPES, *_NO_FILES)
    is_folder = is_file and member.pax_headers.get("path", member.name).endswith("/")
    if member.isdir() or member.type == _DUMPED or is_folder:
        return "dir"
    if is_file:
        return "file"
    if member.issym():
        return "link"
    return "hard" if member.islnk() else "other"
