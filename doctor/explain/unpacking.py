"""What is packed, as far as it can be read: a file that ends early, or is damaged, gives what stands before."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from compat.record import NamedTuple
from doctor.host import BadRequest
from doctor.host.gunzip import WITHOUT_FRAME, Gunzip

UNPACKED_BYTES = 1 << 30  # that are gone through: a small archive may unpack to anything
ENDS_EARLY, DAMAGED = "ends early", "is damaged"
_PIECE_BYTES = 16 << 10
_TAKEN_BYTES = 1 << 20
_MEMBER_BYTES = 4 << 10  # that one more of gzip's costs, also where nothing is in it
_WINDOW_AT_MOST_BYTES = 128 << 20  # of xz: `xz -9` needs half of it


class Pushed:
    """A stream to which what was read too far is given back."""

    def __init__(self, stream: Any, ahead: bytes = b"") -> None:
        self._stream, self._ahead, self._at = stream, ahead, 0

    @property
    def why(self) -> str:
        """What is wrong with what it is packed in; what is not packed cannot be seen to end early."""
        return getattr(self._stream, "why", "")

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer; none at the end."""
        if self._at < len(self._ahead):
            piece = self._ahead[self._at : self._at + size if size >= 0 else None]
            self._at += len(piece)
            return piece
        self._ahead, self._at = b"", 0
        found: bytes = self._stream.read(size)
        return found

    def take(self, size: int) -> bytes:
        """So many, fewer at the end only."""
        pieces: list[bytes] = []
        while size > 0 and (piece := self.read(min(size, _TAKEN_BYTES))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def give_back(self, content: bytes) -> None:
        """It is read next."""
        self._ahead, self._at = content + self._ahead[self._at :], 0

    def peek(self, size: int) -> bytes:
        """So many, which stay to be read."""
        start = self.take(size)
        self.give_back(start)
        return start


class _DamagedHere(ValueError):
    """Content that cannot be unpacked on; what stands before is the argument."""


class _Zlib(Gunzip):
    """One that gives what stands before the damage."""

    def decompress(self, content: bytes, max_length: int) -> bytes:
        before, content = self.machine.copy(), self.machine.unconsumed_tail + content
        try:
            return self.machine.decompress(content, max_length)
        except zlib.error as error:
            raise _DamagedHere(_up_to_the_damage(before, content)) from error


class _Guarded:
    """An unpacker of lzma, bz2 or zstd, whose own error is told as ours."""

    def __init__(self, machine: Any, error: type[Exception]) -> None:
        self._machine, self._error = machine, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def decompress(self, content: bytes, size: int) -> bytes:
        try:
            found: bytes = self._machine.decompress(content, size)
        except self._error as error:
            raise _DamagedHere(b"") from error
        return found


def _xz() -> _Guarded:
    import lzma  # late: few files are packed so, and not every Python has it

    return _Guarded(lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_WINDOW_AT_MOST_BYTES), lzma.LZMAError)


def _bzip2() -> _Guarded:
    import bz2  # late, as above

    return _Guarded(bz2.BZ2Decompressor(), OSError)


def _zstd() -> _Guarded:
    from doctor.host.zstd import zstd_of  # late, as above

    zstd = zstd_of(_WINDOW_AT_MOST_BYTES.bit_length() - 1)
    if zstd is None:
        raise BadRequest("it is packed by zstd, which nothing reads here: unpack it first, by zstd -d")
    return _Guarded(zstd.begin(), zstd.error)


class Packing(NamedTuple):
    """How a file can be packed."""

    magic: bytes  # it begins so; b"" for one that is told by what stands around it
    machine: Callable[[], Any]


BARE = Packing(b"", lambda: _Zlib(WITHOUT_FRAME))  # deflated without gzip's frame: one piece of it
_PACKINGS = (
    Packing(b"\x1f\x8b", _Zlib),
    Packing(b"\xfd7zXZ\0", _xz),
    Packing(b"\x28\xb5\x2f\xfd", _zstd),
    *(Packing(b"BZh%d1AY&SY" % level, _bzip2) for level in range(1, 10)),
)
MAGIC_BYTES = max(len(one.magic) for one in _PACKINGS)


def packing_of(start: bytes) -> Packing | None:
    """By the first MAGIC_BYTES, None for what is not packed."""
    return next((one for one in _PACKINGS if start.startswith(one.magic)), None)


class Inflated:
    """A stream, unpacked; once it is at its end, `why` says what was wrong with it, "" for nothing."""

    def __init__(self, stream: Any, packing: Packing) -> None:
        """Of a BARE one `left` is, at its end, what was read behind it. Raises BadRequest."""
        self.left = b""
        self._why = ""
        self._stream, self._packing, self._room = stream, packing, UNPACKED_BYTES
        self._input, self._is_over = b"", False
        try:
            self._machine = packing.machine()
        except ImportError as error:
            raise BadRequest(f"this Python cannot unpack it: it has no module {error.name}") from error

    @property
    def why(self) -> str:
        """Of itself, else of the stream that it lies in."""
        return self._why or getattr(self._stream, "why", "")

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer; all where it is below 0; none at the end. Raises BadRequest for too many."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))
        while not self._is_over:
            is_last = False
            if self._machine.needs_input and not self._input:
                self._input = self._stream.read(_PIECE_BYTES)
                is_last = not self._input
            piece = self._next(max(1, size))
            self._room -= len(piece)
            if self._room < 0:
                raise BadRequest(f"it unpacks to more than {UNPACKED_BYTES >> 20} MiB")
            if is_last and not piece and not self._is_over:
                self._end(ENDS_EARLY)
            if piece:
                return piece
        return b""

    def _next(self, size: int) -> bytes:
        content, self._input = self._input, b""
        try:
            piece: bytes = self._machine.decompress(content, size)
        except _DamagedHere as error:
            self._end(DAMAGED)
            before: bytes = error.args[0]
            return before
        if self._machine.eof:
            self._go_on()
        return piece

    def _go_on(self) -> None:
        """Behind the end of one: each packing allows another, and zeros."""
        rest, magic = self._machine.unused_data, self._packing.magic
        if not magic:
            self.left = rest
            self._end("")
            return
        while not rest.strip(b"\0") and (more := self._stream.read(_PIECE_BYTES)):
            rest = more
        rest = rest.lstrip(b"\0")
        while 0 < len(rest) < len(magic) and (more := self._stream.read(len(magic) - len(rest))):
            rest += more
        if not rest.startswith(magic):
            self._end("")  # what stands behind it is no part of it
            return
        self._machine, self._input = self._packing.machine(), rest
        self._room -= _MEMBER_BYTES

    def _end(self, why: str) -> None:
        self._why, self._is_over = why, True


def _up_to_the_damage(machine: Any, content: bytes) -> bytes:
    """Byte by byte, until the one that is refused."""
    found = []
    for at in range(len(content)):
        try:
            found.append(machine.decompress(content[at : at + 1]))
        except zlib.error:
            break
    return b"".join(found)
