"""Bytes that are read once, from the first to the last: packed or not, counted, and held against their digest.

Source: the OCI image specification on descriptors and digests.
"""

from __future__ import annotations

import hashlib
import queue
import sys
import threading
from collections.abc import Generator, Iterator
from typing import Any

from compat.base import compression
from compat.base.compression import WINDOW_AT_MOST_BYTES, NoUnpacker, Unpackable, packing_of
from doctor.host import progress
from doctor.image import BOMB_BYTES, BOMB_RATIO, CHUNK_BYTES, UNPACKED_AT_MOST_BYTES, Damaged, ImageError
from doctor.image.disk import Disk

_WINDOW_WITHIN_BYTES = 32 << 20  # of a layer in a file that is packed itself: `zstd -19` needs 8 MiB, `xz -6` 9
_CHUNKS_AHEAD = 16  # small files take Python longer than unpacking, and large ones less
_SMALL_CHUNK_BYTES = 64 << 10
_FREED_KEPT_BYTES = 16 << 20
_SWITCH_S = 1e-4  # how long a thread with the next chunk waits for Python's lock; 5 ms without


class Tally:
    """What reading an image cost."""

    def __init__(self, shown: str = "", total_bytes: int = 0) -> None:
        """`shown`: the image as progress names it; `total_bytes`: its size, 0 if that is unknown."""
        self.shown, self.total_bytes = shown, total_bytes
        self.read_bytes = 0
        self.unpacked_bytes = 0
        self.lock = threading.Lock()  # an archive that is packed, and a layer in it, are unpacked by two threads

    def read(self, size: int) -> None:
        """Count so many bytes more, and show how far it is."""
        self.read_bytes += size
        if self.shown:
            progress.show(f"reading {self.shown}", self.read_bytes, self.total_bytes)

    def unpacked(self, size: int) -> None:
        """So many bytes more."""
        with self.lock:
            self.unpacked_bytes += size


class Feed:
    """Chunks as a file that is only read forward. What is in `block` from `at` on is next, in one piece."""

    def __init__(self, chunks: Iterator[bytes], shown: str) -> None:
        self.shown = shown
        self.block, self.at = b"", 0
        self._chunks = chunks
        self._begin = 0  # where the block is in the stream

    def tell(self) -> int:
        """Where the next byte lies."""
        return self._begin + self.at

    def more(self) -> bool:
        """Have the next chunk where the last one was, which was read; whether there is one."""
        chunk = next(self._chunks, None)
        self._begin, self.at, self.block = self.tell(), 0, chunk or b""
        return chunk is not None

    def has(self, size: int) -> bool:
        """Whether the next bytes are in one piece."""
        while self.at >= len(self.block) and self.more():
            pass
        return len(self.block) - self.at >= size

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer where the stream ends; they stay to be read."""
        pieces, there = [self.block[self.at :]], len(self.block) - self.at
        while there < size and (chunk := next(self._chunks, None)) is not None:
            pieces.append(chunk)
            there += len(chunk)
        self._begin, self.at, self.block = self.tell(), 0, b"".join(pieces)
        return self.block[:size]

    def line(self) -> bytes:
        """What there is of the next line: to its end, or that of the chunk; nothing at the end of the stream."""
        if not self.has(1):
            return b""
        end = self.block.find(b"\n", self.at) + 1
        return self.read((end or len(self.block)) - self.at)

    def take(self, size: int) -> Iterator[memoryview]:
        """The next bytes piece by piece; raises Damaged where the stream ends before them."""
        while size:
            if not self.has(1):
                raise Damaged(f"{self.shown}: it ends in the middle of a file")
            piece = memoryview(self.block)[self.at : self.at + size]
            self.at += len(piece)
            size -= len(piece)
            yield piece

    def read(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        found = b""
        while len(found) < size and self.has(1):
            piece = self.block[self.at : self.at + size - len(found)]
            self.at += len(piece)
            found += piece
        return found

    def skip(self, size: int) -> int:
        """Go on without the next bytes; how many of them the stream lacks."""
        while size > (there := len(self.block) - self.at):
            size, self.at = size - there, len(self.block)
            if not self.more():
                return size
        self.at += size
        return 0

    def drain(self) -> None:
        """Read to the end, which is what a digest or a checksum is of."""
        while self.more():
            pass


def stretches_of(disk: Disk, place: int, size: int) -> Iterator[bytes]:
    """The bytes of a part of a file, chunk by chunk."""
    end = min(place + size, disk.size_bytes)
    while place < end and (chunk := disk.read(place, min(CHUNK_BYTES, end - place))):
        place += len(chunk)
        yield chunk


def chunks_of(chunks: Iterator[bytes], tally: Tally, digest: str = "") -> Iterator[bytes]:
    """The same chunks, counted; raises Damaged at their end where they have another digest ("" for any)."""
    for chunk in summed(chunks, digest):
        tally.read(len(chunk))
        yield chunk


def summed(chunks: Iterator[bytes], digest: str) -> Iterator[bytes]:
    """The same chunks; raises Damaged at their end where they have another digest ("" for any)."""
    sum_of = hasher(digest)
    for chunk in chunks:
        if sum_of:
            sum_of.update(chunk)
        yield chunk
    if sum_of and sum_of.hexdigest() != digest.partition(":")[2]:
        raise Damaged(f"{digest}: its bytes have another digest, {digest.partition(':')[0]}:{sum_of.hexdigest()}")


def hasher(digest: str) -> Any:
    """What sums for a digest, None for "" ; raises ImageError for an algorithm that no specification registers."""
    algorithm = digest.partition(":")[0]
    if not digest:
        return None
    if algorithm not in {"sha256", "sha512"}:
        raise ImageError(f"{digest[:80]}: the OCI specification registers sha256 and sha512")
    return hashlib.new(algorithm)


def unpacked(
    chunks: Iterator[bytes], shown: str, tally: Tally, *, is_within: bool = False
) -> tuple[str, Iterator[bytes]]:
    """How the bytes are packed ("" for not), and what they are unpacked; raises ImageError.

    `is_within` is for those that come of a packed file themselves: both have a window in memory.
    """
    first = next(chunks, b"")
    kind = packing_of(first)
    packed = _with(first, chunks)
    if not kind:
        return "", packed
    read = [0]
    given = _unpacked(_counted(packed, read), kind, shown, is_within=is_within)
    return kind, ahead(_gathered(_bounded(given, read, shown, tally)))


def _unpacked(packed: Iterator[bytes], kind: str, shown: str, *, is_within: bool) -> Iterator[bytes]:
    """Raises Damaged, ImageError."""
    window_bytes = _WINDOW_WITHIN_BYTES if is_within else WINDOW_AT_MOST_BYTES
    summed_ahead = ahead(packed) if kind == "zstd" else None  # a thread sums meanwhile
    try:
        yield from compression.unpacked(summed_ahead or packed, kind, window_bytes=window_bytes)
    except NoUnpacker as error:
        raise ImageError(f"{shown} is packed with {kind}: {error}") from error
    except Unpackable as error:
        where = " in a packed file: unpack that first" if is_within else ""
        why = "" if kind == "gzip" else f", or needs more than {window_bytes >> 20} MiB{where}"
        what = "cut short" if error.ends_early else f"damaged{why} ({error})"
        raise Damaged(f"{shown}: its {kind} data is {what}") from error
    finally:
        if summed_ahead:
            summed_ahead.close()


def ahead(chunks: Iterator[bytes]) -> Generator[bytes, None, None]:
    """The same chunks, made by a thread while the last ones are used: unpacking and sums wait for nobody's Python.

    Queues of C on both sides: the ones of Python take longer than the sum of a chunk.
    """
    made: queue.SimpleQueue[bytes | BaseException | None] = queue.SimpleQueue()
    room: queue.SimpleQueue[bool] = queue.SimpleQueue()  # False where nobody wants more

    def make() -> None:
        try:
            for chunk in chunks:
                made.put(chunk)
                if not room.get():
                    return
            made.put(None)
        except BaseException as error:  # noqa: BLE001 - of another thread: it is raised again where the bytes are read
            made.put(error)

    _keep_freed()
    sys.setswitchinterval(_SWITCH_S)
    for _ in range(_CHUNKS_AHEAD):
        room.put(True)
    threading.Thread(target=make, daemon=True).start()
    try:
        while (chunk := made.get()) is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk
            room.put(True)
    finally:
        room.put(False)


def _keep_freed() -> None:
    """Have what chunks leave used for the next ones: glibc would give it back to the system, and ask for it again.

    It keeps up to twice the largest block that was mapped by itself and freed (mallopt(3), M_MMAP_THRESHOLD).
    """
    bytes(_FREED_KEPT_BYTES)


def _with(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from chunks


def _counted(packed: Iterator[bytes], read: list[int]) -> Iterator[bytes]:
    """The same chunks, their bytes added to the number."""
    for chunk in packed:
        read[0] += len(chunk)
        yield chunk


def _bounded(chunks: Iterator[bytes], read: list[int], shown: str, tally: Tally) -> Iterator[bytes]:
    """What is unpacked of so many bytes, as far as it can be an image; raises ImageError."""
    given = 0
    for chunk in chunks:
        given += len(chunk)
        tally.unpacked(len(chunk))
        refuse_bomb(shown, read[0], given)
        yield chunk


def _gathered(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, small chunks put together: frames of one byte each would take a hundred times their room."""
    small: list[bytes] = []
    there = 0
    for chunk in filter(None, chunks):
        if not small and len(chunk) >= _SMALL_CHUNK_BYTES:
            yield chunk
            continue
        small.append(chunk)
        there += len(chunk)
        if there >= _SMALL_CHUNK_BYTES:
            yield b"".join(small)
            small, there = [], 0
    yield b"".join(small)


def refuse_bomb(shown: str, packed: int, given: int) -> None:
    """Raise ImageError where so many bytes come of so few that it is no image."""
    if given > UNPACKED_AT_MOST_BYTES or (given > BOMB_BYTES and given > BOMB_RATIO * packed):
        raise ImageError(f"{shown}: {packed} bytes unpack to more than {given >> 30} GiB: that is not an image")
