"""Unpack gzip, xz, zstd and bzip2 in bounded memory: the one mechanism for images, archives, logs and kernel modules.

Sources: RFC 1952 (members of a gzip file follow one another), the .xz file format 1.2 (streams, and padding of zeros),
RFC 8878 (frames of zstd, skippable ones among them, which is how chunked zstd carries its index).
"""

from __future__ import annotations

import contextlib
import importlib
import zlib
from collections.abc import Callable, Generator, Iterable
from typing import Any, Literal

from compat.base.errors import GpudoctorError

WINDOW_AT_MOST_BYTES = 128 << 20  # `zstd --ultra -22` and `xz -9` need that much or less
PIECE_BYTES = 1 << 20  # of what is unpacked at once
DEFLATE = "deflate"  # without gzip's frame, as in a zip file: what stands around it says so
_MAGICS = {
    "gzip": (b"\x1f\x8b",),
    "xz": (b"\xfd7zXZ\0",),
    "zstd": (b"\x28\xb5\x2f\xfd", *(bytes((first,)) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))),
    "bzip2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
}
MAGIC_BYTES = max(len(magic) for magics in _MAGICS.values() for magic in magics)
_FIRST_STEP_BYTES = 1 << 10  # of what stands behind a stream, which is copied: there may be 80,000 in a chunk
_EMPTY_AT_MOST = 10_000  # streams without content, of which a small file holds millions
Behind = Literal["refuse", "ignore", "unread"]
_GZIP_WINDOW, _BARE_WINDOW = 31, -15  # zlib's: with gzip's header and checksum, or without


class Unpackable(GpudoctorError):
    """Packed bytes that are damaged, end early, or need more memory than was allowed."""

    def __init__(self, why: str, *, before: bytes = b"", ends_early: bool = False) -> None:
        """`before`: what unpacks in front of the damage."""
        super().__init__(why)
        self.before, self.ends_early = before, ends_early


class NoUnpacker(GpudoctorError):
    """This Python lacks the module that unpacks these bytes; the message names what to install."""


def packing_of(start: bytes) -> str:
    """Return how bytes are packed by their first MAGIC_BYTES: "gzip", "xz", "zstd", "bzip2", "" for not."""
    return next((name for name, magics in _MAGICS.items() if start.startswith(magics)), "")


class _Zlib:
    """zlib's unpacker with the methods that those of lzma, bz2 and zstd have."""

    def __init__(self, window: int, *, keeps_before: bool) -> None:
        """`keeps_before`: what unpacks in front of damage comes with the error, which costs a copy of its state."""
        self._machine, self._keeps = zlib.decompressobj(window), keeps_before

    @property
    def needs_input(self) -> bool:
        return not self._machine.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._machine.eof

    @property
    def unused_data(self) -> bytes:
        return self._machine.unused_data

    def decompress(self, content: bytes, max_length: int) -> bytes:
        content = self._machine.unconsumed_tail + content
        before = self._machine.copy() if self._keeps else None
        try:
            return self._machine.decompress(content, max_length)
        except zlib.error as error:
            raise Unpackable(str(error), before=_up_to_the_damage(before, content) if before else b"") from error


def _up_to_the_damage(machine: Any, content: bytes) -> bytes:
    found: list[bytes] = []
    for at in range(len(content)):
        try:
            found.append(machine.decompress(content[at : at + 1]))
        except zlib.error:
            break
    return b"".join(found)


def _streams(packing: str, window_bytes: int, *, keeps_before: bool) -> tuple[Callable[[], Any], type[Exception]]:
    """Return what begins to unpack one stream, as lzma.LZMADecompressor, and its error; raises NoUnpacker."""
    if packing in ("gzip", DEFLATE):
        window = _GZIP_WINDOW if packing == "gzip" else _BARE_WINDOW
        return lambda: _Zlib(window, keeps_before=keeps_before), zlib.error
    if packing == "xz":
        lzma = _module("lzma")
        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=window_bytes), lzma.LZMAError
    if packing == "bzip2":
        return _module("bz2").BZ2Decompressor, OSError
    zstd = _module("compression.zstd", "backports.zstd")
    options = {zstd.DecompressionParameter.window_log_max: window_bytes.bit_length() - 1}
    return lambda: zstd.ZstdDecompressor(options=options), zstd.ZstdError


def _module(*names: str) -> Any:
    for name in names:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    raise NoUnpacker(f"this Python has no module {names[0]}" + "".join(f": pip install {one}" for one in names[1:]))


def unpacked(
    chunks: Iterable[bytes],
    packing: str,
    *,
    window_bytes: int = WINDOW_AT_MOST_BYTES,
    piece_bytes: int = PIECE_BYTES,
    behind: Behind = "refuse",
) -> Generator[bytes, None, bytes]:
    """Yield what packed chunks hold, in pieces of at most `piece_bytes`, some of them empty.

    `behind`: what may stand behind a stream. "refuse": more of them, with zeros between and behind those of gzip
    and xz. "ignore": the same, and anything else ends it. "unread": nothing is read behind the first one.
    Returns what was read behind the end. Raises Unpackable, NoUnpacker, and what `chunks` raises.
    """
    begin, error_of = _streams(packing, window_bytes, keeps_before=behind != "refuse")
    padding = b"" if packing == DEFLATE or (packing == "zstd" and behind == "refuse") else b"\0"
    stream: Any = None
    step, empty, is_first = PIECE_BYTES, 0, True
    for chunk in chunks:
        at = 0
        while at < len(chunk) or (stream and not stream.needs_input):
            if stream is None:
                at = _after_padding(chunk, at, padding)
                if at == len(chunk):
                    break
                if behind == "ignore" and not is_first and not _may_begin(chunk[at : at + MAGIC_BYTES], packing):
                    return chunk[at:]
                stream, is_first = begin(), False
            given = chunk[at : at + step] if stream.needs_input else b""
            at, step = at + len(given), min(2 * step, PIECE_BYTES)
            try:
                piece: bytes = stream.decompress(given, piece_bytes)
            except error_of as error:
                raise Unpackable(str(error)) from error
            empty = 0 if piece else empty + 1
            if empty > _EMPTY_AT_MOST:
                raise Unpackable(f"more than {_EMPTY_AT_MOST} empty streams follow one another")
            yield piece
            if stream.eof:
                at -= len(stream.unused_data)
                stream, step = None, _FIRST_STEP_BYTES
                if behind == "unread":
                    return chunk[at:]
    if stream:
        raise Unpackable("it ends too early", ends_early=True)
    return b""


def _after_padding(chunk: bytes, at: int, padding: bytes) -> int:
    while at < len(chunk):
        part = chunk[at : at + _FIRST_STEP_BYTES]
        bare = part.lstrip(padding)
        at += len(part) - len(bare)
        if bare:
            break
    return at


def _may_begin(start: bytes, packing: str) -> bool:
    """Return whether a stream may begin so; less than a whole magic number may stand at the end of a chunk."""
    return any(magic.startswith(start[: len(magic)]) for magic in _MAGICS[packing])
