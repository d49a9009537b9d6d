"""The end of what a command wrote."""

from __future__ import annotations

from collections import deque

KEPT_BYTES = 1 << 20


class Tail:
    """The last `KEPT_BYTES` of several streams, in the order in which they came."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._pieces: deque[bytes] = deque()
        self._size = 0

    def add(self, piece: bytes) -> None:
        """Called by several threads; what a deque does is done whole."""
        self._pieces.append(piece)
        self._size += len(piece)
        while self._size - len(self._pieces[0]) > self._kept_bytes:
            self._size -= len(self._pieces.popleft())

    def text(self) -> bytes:
        """What is kept."""
        return b"".join(self._pieces)[-self._kept_bytes :]
