"""What is packed, as far as it can be read: a file that ends early, or is damaged, gives what stands before."""

from __future__ import annotations

import zlib
from typing import Any

from doctor.host import BadRequest

GZIP = b"\x1f\x8b"
UNPACKED_BYTES = 1 << 30  # that are gone through: a small archive may unpack to anything
ENDS_EARLY, DAMAGED = "ends early", "is damaged"
_PIECE_BYTES = 16 << 10
_TAKEN_BYTES = 1 << 20
_MEMBER_BYTES = 4 << 10  # that one more of gzip's costs, also where nothing is in it
_OF_GZIP, _BARE = 31, -15  # zlib's window: with gzip's header and checksum, or without


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


class Inflated:
    """A stream, unpacked; once it is at its end, `why` says what was wrong with it, "" for nothing."""

    def __init__(self, stream: Any, *, bare: bool = False) -> None:
        """`bare`: deflated without gzip's frame, one piece of it; `left` is then what was read behind it."""
        self.left = b""
        self._why = ""
        self._stream, self._bare, self._room = stream, bare, UNPACKED_BYTES
        self._machine = zlib.decompressobj(_BARE if bare else _OF_GZIP)
        self._input, self._is_over = b"", False

    @property
    def why(self) -> str:
        """Of itself, else of the stream that it lies in."""
        return self._why or getattr(self._stream, "why", "")

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer; all where it is below 0; none at the end. Raises BadRequest for too many."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))
        while not self._is_over:
            self._input = self._input or self._stream.read(_PIECE_BYTES)
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
        before = self._machine.copy()
        try:
            piece = self._machine.decompress(self._input, size)
        except zlib.error:
            self._end(DAMAGED)
            return _up_to_the_damage(before, self._input)
        self._input = self._machine.unconsumed_tail
        if self._machine.eof:
            self._go_on()
        return piece

    def _go_on(self) -> None:
        """Behind the end of one: gzip allows another, and zeros."""
        rest = self._machine.unused_data
        if self._bare:
            self.left = rest
            self._end("")
            return
        while not rest.strip(b"\0") and (more := self._stream.read(_PIECE_BYTES)):
            rest = more
        rest = rest.lstrip(b"\0")
        if len(rest) == 1:
            rest += self._stream.read(1)
        if not rest.startswith(GZIP):
            self._end("")  # what stands behind it is no part of it
            return
        self._machine, self._input = zlib.decompressobj(_OF_GZIP), rest
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
