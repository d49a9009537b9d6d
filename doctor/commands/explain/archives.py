"""The files of a tar or zip archive in their order, as far as they can be read; neither needs the end to be there."""

from __future__ import annotations

import struct
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

from compat.base.compression import DEFLATE
from compat.base.record import NamedTuple
from doctor.commands.explain.unpacking import DAMAGED, ENDS_EARLY, Inflated, Pushed

ZIP = b"PK\x03\x04"
_PIECE_BYTES = 64 << 10
_BEHIND_THE_END = 100  # reads that give nothing
_BLOCK_BYTES = 512  # of tar: a header is one, and two of zeros are its end
# zip's local header (APPNOTE.TXT 4.3.7): version, flags, method, time, date, checksum, packed, size, name, extra.
_LOCAL = struct.Struct("<HHHHHIIIHH")
_ENCRYPTED, _SIZES_BEHIND = 1 << 0, 1 << 3
_STORED, _DEFLATED = 0, 8
_LISTINGS = (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x08")  # what stands behind the last file
_DESCRIPTOR = b"PK\x07\x08"


class Packed(NamedTuple):
    """A file of an archive."""

    name: str
    content: bytes  # no more than was asked for
    is_larger: bool  # than that: it was not read
    why: str  # what is wrong with it, "" for nothing


def tar_files(stream: Any, most_bytes: int) -> Iterator[Packed]:
    """The plain files; raises ValueError where the end is not there, or what stands there is no header."""
    try:
        yield from _tar_files(stream, most_bytes)
    except (tarfile.TarError, ValueError, OverflowError) as error:
        is_short = any(words in str(error) for words in ("truncated", "unexpected end", "empty", ENDS_EARLY))
        raise ValueError(ENDS_EARLY if is_short else DAMAGED) from error


def _tar_files(stream: Any, most_bytes: int) -> Iterator[Packed]:
    seen: Any = _Seen(stream)
    with tarfile.open(fileobj=seen, mode="r|") as archive:
        for member in archive:
            if not member.isreg():
                continue
            if member.size > most_bytes:
                yield Packed(member.name, b"", is_larger=True, why="")
                continue
            content = _all_of(archive.extractfile(member))
            yield Packed(member.name, content, is_larger=False, why="" if len(content) == member.size else ENDS_EARLY)
        at = archive.offset
    while seen.read(_PIECE_BYTES):
        pass
    if seen.size < at + _BLOCK_BYTES:
        raise ValueError(ENDS_EARLY)
    if seen.last > at:
        raise ValueError(DAMAGED)


class _Seen:
    """A stream, how much of it was read, and where its last byte stands that is not zero."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.size, self.last = stream, 0, 0
        self._behind = 0

    def read(self, size: int) -> bytes:
        """Raises ValueError for who reads on at the end: tarfile does, up to the size that a header claims."""
        piece: bytes = self._stream.read(size)
        self._behind += not piece
        if self._behind > _BEHIND_THE_END:
            raise ValueError(ENDS_EARLY)
        bare = len(piece.rstrip(b"\0"))
        self.last = self.size + bare if bare else self.last
        self.size += len(piece)
        return piece


def _all_of(held: Any) -> bytes:
    pieces: list[bytes] = []
    try:
        while held and (piece := held.read(_PIECE_BYTES)):
            pieces.append(piece)
    except (tarfile.TarError, OSError):  # it ends within this file
        pass
    return b"".join(pieces)


def zip_files(stream: Any, most_bytes: int) -> Iterator[Packed]:
    """The files, by the headers before them; raises ValueError where the listing behind the last one is not there."""
    left = Pushed(stream)
    while (sign := left.take(4)) == ZIP:
        fields = left.take(_LOCAL.size)
        if len(fields) < _LOCAL.size:
            raise ValueError(ENDS_EARLY)
        _, flags, method, _, _, checksum, packed, _, name_bytes, extra_bytes = _LOCAL.unpack(fields)
        name = left.take(name_bytes).decode("utf-8", "replace")
        left.take(extra_bytes)
        if flags & _ENCRYPTED or method not in (_STORED, _DEFLATED) or (flags & _SIZES_BEHIND and method == _STORED):
            raise ValueError("contains a file that is encrypted or compressed in an unsupported way")
        one, found = _unpacked(left, method, packed, most_bytes)
        if flags & _SIZES_BEHIND and not one.why:
            checksum = _checksum_behind(left)
        wrong = bool(checksum) and not one.why and found != checksum
        yield one._replace(name=name, why=DAMAGED if wrong else one.why)
        if one.why:
            raise ValueError(one.why)
    if sign not in _LISTINGS:
        raise ValueError(ENDS_EARLY if len(sign) < len(ZIP) else DAMAGED)


def _unpacked(left: Pushed, method: int, packed: int, most_bytes: int) -> tuple[Packed, int]:
    """One file without its name, and its checksum."""
    source: Inflated | _Part = Inflated(left, DEFLATE) if method == _DEFLATED else _Part(left, packed)
    content: list[bytes] = []
    size = checksum = 0
    while piece := source.read(_PIECE_BYTES):
        size, checksum = size + len(piece), zlib.crc32(piece, checksum)
        content.append(piece)
        if size > most_bytes:
            content.clear()
    left.give_back(source.left)
    return Packed("", b"".join(content), is_larger=size > most_bytes, why=source.why), checksum


def _checksum_behind(left: Pushed) -> int:
    """That of a file whose sizes (of 4 or 8 bytes) stand behind it, with or without a sign; 0 where it ends there."""
    found = left.take(24)
    at = 4 if found.startswith(_DESCRIPTOR) else 0
    end = next((at + size for size in (12, 20) if found[at + size : at + size + 4] in (ZIP, *_LISTINGS)), 24)
    left.give_back(found[end:])
    return int.from_bytes(found[at : at + 4], "little") if len(found) == 24 else 0


class _Part:
    """So many bytes of a stream, as they are."""

    def __init__(self, stream: Pushed, size: int) -> None:
        self.why, self.left = "", b""
        self._stream, self._size = stream, size

    def read(self, size: int) -> bytes:
        piece = self._stream.read(min(size, self._size))
        self._size -= len(piece)
        self.why = ENDS_EARLY if not piece and self._size else ""
        return piece
