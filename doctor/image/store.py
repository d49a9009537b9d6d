"""Where the blobs of an image lie: a directory, a tar that can be read here and there, or a tar that streams by."""

from __future__ import annotations

import collections
import functools
import os
from typing import Protocol

from compat.base.compression import packing_of
from compat.base.record import NamedTuple
from doctor.host import HostError
from doctor.host.root import RootHost
from doctor.image import SMALL_BYTES, Damaged, ImageError
from doctor.image.cache import LayerCache
from doctor.image.disk import Disk, Scratch
from doctor.image.keep import ByteRange
from doctor.image.layer import End, Layer, entries_of, read_packed, read_plain
from doctor.image.stream import Feed, Tally, chunks_of, hasher, stretches_of, summed, unpacked
from doctor.image.tree import parts_of

_HELD_AT_MOST_BYTES = 64 << 20  # of small blobs of a tar that streams by


class Store(Protocol):
    """Blobs by their names."""

    def has(self, name: str) -> bool:
        """Whether it is there."""

    def small(self, name: str, digest: str = "") -> bytes:
        """A manifest or configuration, whole; raises ImageError, Damaged for another digest."""

    def layer(self, name: str, digest: str, size: int | None) -> Layer:
        """A layer, read; raises ImageError, Damaged."""


def check_digest(content: bytes, digest: str) -> bytes:
    """The same bytes; raises Damaged where they are not those of the digest ("" for any)."""
    summed = hasher(digest)
    if summed:
        summed.update(content)
        if summed.hexdigest() != digest.partition(":")[2]:
            raise Damaged(f"{digest}: its bytes have another digest, {digest.partition(':')[0]}:{summed.hexdigest()}")
    return content


class _Place(NamedTuple):
    """Where a blob lies."""

    disk: Disk
    place: int
    size: int


class FileStore:
    """Blobs that are files, or are in a tar that is not packed: a layer that is not packed either is read in place."""

    def __init__(self, spool: Scratch, tally: Tally, cache: LayerCache) -> None:
        self._spool = spool
        self._tally = tally
        self._cache = cache

    def has(self, name: str) -> bool:
        """See Store."""
        raise NotImplementedError

    def _find(self, name: str) -> _Place:
        """Raises Damaged for what is not there."""
        raise NotImplementedError

    def small(self, name: str, digest: str = "") -> bytes:
        """See Store."""
        disk, place, size = self._find(name)
        content = disk.read(place, min(size, SMALL_BYTES + 1))
        self._tally.read(len(content))
        return check_digest(content, digest)

    def layer(self, name: str, digest: str, size: int | None) -> Layer:
        """See Store."""
        disk, place, there = self._find(name)
        if size is not None and there != size:
            raise Damaged(f"{name}: {there} bytes, where the manifest says {size}")
        if not packing_of(disk.read(place, 8)):
            return read_plain(disk, name, place, there)
        mark = disk.mark(place, there)
        packed = chunks_of(stretches_of(disk, place, there), self._tally, digest)
        known = self._cache.get(digest) if digest else None
        if known is not None:
            if not self._cache.was_summed(digest, mark):
                collections.deque(packed, maxlen=0)
                self._cache.summed(digest, mark)
            return known
        _, chunks = unpacked(packed, name, self._tally)
        layer = read_packed(Feed(chunks, name), self._spool)
        if digest and not self._spool.is_full:
            self._cache.put(digest, layer)
            self._cache.summed(digest, mark)
        return layer


class FolderStore(FileStore):
    """An OCI layout as a directory; no link leads out of it."""

    def __init__(self, folder: str, spool: Scratch, tally: Tally, cache: LayerCache) -> None:
        super().__init__(spool, tally, cache)
        self._folder, self._host = folder, RootHost(folder)

    def has(self, name: str) -> bool:
        """See Store."""
        return self._host.is_file(f"/{name}")

    def _find(self, name: str) -> _Place:
        try:
            disk = Disk(self._folder + self._host.real_path(f"/{name}"))
        except (HostError, OSError) as error:
            raise Damaged(f"the image lacks {name}, or this user may not read it") from error
        return _Place(disk, 0, disk.size_bytes)


class TarStore(FileStore):
    """Blobs in a tar that is not packed. Old tars of `docker save` have links from one layer to another."""

    def __init__(self, disk: Disk, shown: str, spool: Scratch, tally: Tally, cache: LayerCache) -> None:
        """Raises Damaged, ImageError."""
        super().__init__(spool, tally, cache)
        self._disk = disk
        self.whole = read_plain(disk, shown)  # as one layer, which a root tar is
        self._entries = {"/".join(parts_of(one.name)): one for one in self.whole.entries}
        self._links = {name: (one.kind, one.target) for name, one in self._entries.items() if one.target}

    def has(self, name: str) -> bool:
        """See Store."""
        return name in self._entries

    def _find(self, name: str) -> _Place:
        entry = self._entries.get(_linked(name, self._links))
        if entry is None or not entry.stretches:
            raise Damaged(f"the image lacks {name}")
        return _Place(self._disk, entry.stretches[0].kept_at, entry.size_bytes)


def _linked(name: str, entries: dict[str, tuple[str, str]]) -> str:
    """The name behind symbolic and hard links."""
    for _ in range(8):
        kind, target = entries.get(name, ("", ""))
        if kind == "link":
            name = "/".join(parts_of(f"{os.path.dirname(name)}/{target}"))
        elif kind == "hard":
            name = "/".join(parts_of(target))
        else:
            break
    return name


class StreamStore:
    """Blobs of a tar that streams by, whose kinds are not known yet: layers are read when they pass."""

    def __init__(self, feed: Feed, spool: Scratch, tally: Tally, *, is_packed: bool) -> None:
        """Raises Damaged, ImageError."""
        self._is_packed = is_packed
        self._small: dict[str, bytes] = {}
        self._layers: dict[str, tuple[Layer, str]] = {}
        self._links: dict[str, tuple[str, str]] = {}
        self._spool, self._tally = spool, tally
        self._held_bytes = 0
        for entry in entries_of(feed, End(), functools.partial(self._take, feed)):
            if entry.kind in {"link", "hard"}:
                self._links["/".join(parts_of(entry.name))] = (entry.kind, entry.target)
        feed.drain()

    def _take(self, feed: Feed, name: str, size: int, _: object) -> tuple[ByteRange, ...]:
        """Read one blob; a small one is held in memory."""
        name, start = "/".join(parts_of(name)), feed.peek(min(size, 512))[:size]
        if size > SMALL_BYTES or packing_of(start) or start[257:262] == b"ustar":
            parts = name.split("/")
            digest = (
                f"{parts[1]}:{parts[2]}" if len(parts) == 3 and parts[0] == "blobs" and parts[1] in {"sha256"} else ""
            )
            chunks = summed((bytes(piece) for piece in feed.take(size)), digest)
            _, plain = unpacked(chunks, name, self._tally, is_within=self._is_packed)
            inner = Feed(plain, name)
            if inner.peek(512)[257:262] == b"ustar":
                self._layers[name] = (read_packed(inner, self._spool), digest)
            else:
                inner.drain()
            return ()
        self._held_bytes += size
        if self._held_bytes > _HELD_AT_MOST_BYTES:
            raise ImageError(f"{feed.shown}: the small files have more than {_HELD_AT_MOST_BYTES >> 20} MiB")
        self._small[name] = b"".join(map(bytes, feed.take(size)))
        return ()

    def has(self, name: str) -> bool:
        """See Store."""
        real = _linked(name, self._links)
        return real in self._small or real in self._layers

    def small(self, name: str, digest: str = "") -> bytes:
        """See Store."""
        real = _linked(name, self._links)
        if real not in self._small:
            raise Damaged(f"the image lacks {name}")
        return check_digest(self._small[real], digest)

    def layer(self, name: str, digest: str, size: int | None) -> Layer:
        """See Store."""
        real = _linked(name, self._links)
        if real not in self._layers:
            raise Damaged(f"the image lacks {name}")
        return self._layers[real][0]
