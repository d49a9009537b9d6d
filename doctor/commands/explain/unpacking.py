"""What is packed, as far as it can be read: a file that ends early, or is damaged, gives what stands before."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from compat.base.compression import DEFLATE, Behind, NoUnpacker, Unpackable, unpacked
from doctor.host import BadRequest

UNPACKED_BYTES = 1 << 30  # that are gone through: a small archive may unpack to anything
ENDS_EARLY, DAMAGED = "ends early", "is damaged"
_PIECE_BYTES = 16 << 10
_TAKEN_BYTES = 1 << 20
_MEMBER_BYTES = 4 << 10  # that a piece counts for at least: a small file holds millions of streams of a byte each

_Pieces = Generator[bytes, None, bytes]


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

    def __init__(self, stream: Any, packing: str) -> None:
        """Of a deflated one `left` is, at its end, what was read behind it."""
        self.left = b""
        self._why = ""
        self._stream, self._room = stream, UNPACKED_BYTES
        chunks = iter(lambda: stream.read(_PIECE_BYTES), b"")
        behind: Behind = "unread" if packing == DEFLATE else "ignore"
        self._pieces: Generator[bytes, None, bytes] | None = unpacked(
            chunks, packing, piece_bytes=_PIECE_BYTES, behind=behind
        )
        self._ahead = b""

    @property
    def why(self) -> str:
        """Of itself, else of the stream that it is in."""
        return self._why or getattr(self._stream, "why", "")

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer; all where it is below 0; none at the end. Raises BadRequest for too many."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))
        while not self._ahead and self._pieces:
            self._ahead = self._next(self._pieces)
        piece, self._ahead = self._ahead[:size], self._ahead[size:]
        return piece

    def _next(self, pieces: _Pieces) -> bytes:
        """The next piece, which may be empty; at the end, or at damage, the last one."""
        try:
            piece = next(pieces)
        except StopIteration as end:
            self.left, self._pieces = end.value, None
            return b""
        except Unpackable as error:
            self._why, self._pieces = ENDS_EARLY if error.ends_early else DAMAGED, None
            return error.before
        except NoUnpacker as error:
            raise BadRequest(f"its compression is not supported ({error}): unpack it first") from error
        self._room -= max(len(piece), _MEMBER_BYTES)
        if self._room < 0:
            raise BadRequest(f"it unpacks to more than {UNPACKED_BYTES >> 20} MiB")
        return piece
