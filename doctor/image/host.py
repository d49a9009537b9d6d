"""The files of an image as a machine: the tree in memory, content from where its layers can be read."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Mapping
from typing import BinaryIO, cast

from doctor.host import LISTING_LIMIT, READ_LIMIT_BYTES, FileStatus, Missing, Unreadable
from doctor.host.base import StatusHost
from doctor.host.root import ResolvingHost, family_of
from doctor.image import KEPT_AT_MOST_BYTES
from doctor.image.config import environ_in
from doctor.image.container_env_files import config_within
from doctor.image.facts import facts_of
from doctor.image.keep import Pieces
from doctor.image.opened import Image
from doctor.image.tree import Node
from doctor.model.facts.failure import Unread
from doctor.model.facts.image import ImageFacts
from doctor.model.facts.seen import Seen

_DEVICE = 1  # all files of an image lie on one
_NOT_KEPT = "it is in a packed layer, of which this file was not kept"


class ImageHost(ResolvingHost, StatusHost):
    """An image; what is asked is answered as `RootHost` answers for its unpacked files."""

    kind = "image"

    def __init__(self, image: Image) -> None:
        self.image = image
        self.name = image.name
        self.os_family = family_of({name.lower() for name in image.tree.root.children or ()})
        if not image.config.is_known and (within := config_within(self)):
            self.image = image = image._replace(config=within)
        self.environ: Mapping[str, str] = environ_in(self, image.config)
        self.set_by = image.config.set_by if image.config.is_known else None

    @property
    def image_facts(self) -> Seen[ImageFacts]:
        """What the image says of itself."""
        return Seen(facts_of(self.image), "its manifest and configuration")

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The image, where there was no room for all that is kept of its packed layers."""
        if not self.image.spool.is_full:
            return ()
        why = f"files were passed over, as more than {KEPT_AT_MOST_BYTES >> 20} MiB of it would have been kept"
        return (Unread(self.name, f"{why}; --root on its unpacked files reads all"),)

    def _node_at(self, parts: list[str]) -> Node:
        """What is there; raises OSError for nothing."""
        node = self.image.tree.root
        for part in parts:
            below = node.children.get(part) if node.children is not None else None
            if below is None:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            node = below
        return node

    def _text_at(self, parts: list[str]) -> str | None:
        node = self._node_at(parts)
        return node.entry.target if node.entry.kind == "link" else None

    def _names_at(self, parts: list[str], shown: str) -> tuple[str, ...]:
        try:
            children = self._node_at(parts).children
        except OSError:
            children = None
        if children is None:
            raise Missing(shown)
        if len(children) > LISTING_LIMIT:
            raise Unreadable(shown, f"the directory has more than {LISTING_LIMIT} entries")
        return tuple(sorted(children))

    def _node(self, path: str, *, follow_last: bool = True) -> Node:
        """Raises Missing, Unreadable."""
        parts = self._resolve(path, follow_last=follow_last)
        try:
            return self._node_at(parts)
        except OSError as error:
            raise Missing(path) from error

    # --- the questions of a host ----------------------------------------------------------------------------------

    def status(self, path: str) -> FileStatus:
        """See Host."""
        return _status(self._node(path))

    def link_status(self, path: str) -> FileStatus:
        """See Host."""
        return _status(self._node(path, follow_last=False))

    def link_target(self, path: str) -> str:
        """See Host."""
        node = self._node(path, follow_last=False)
        if node.entry.kind != "link":
            raise Unreadable(path, "invalid argument")
        return node.entry.target

    def names(self, path: str) -> tuple[str, ...]:
        """See Host."""
        return self._names_at(self._resolve(path, follow_last=True), path)

    def open(self, path: str) -> BinaryIO:
        """See Host."""
        node = self._node(path)
        if node.entry.kind != "file" or node.source is None:
            raise Unreadable(path, "not a regular file")
        pieces = Pieces(node.entry.size_bytes, node.entry.stretches, node.source)
        return cast("BinaryIO", _Unbuffered(pieces))

    def read_bytes(self, path: str, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """See Host."""
        node = self._node(path)
        if node.entry.kind != "file":
            raise Unreadable(path, "not a regular file")
        if node.entry.size_bytes > limit_bytes:
            raise Unreadable(path, f"larger than the {limit_bytes} bytes that such a file may have")
        try:
            return self.open(path).read()
        except OSError as error:
            raise Unreadable(path, _NOT_KEPT) from error

    def layer_of(self, path: str) -> int:
        """The number of the layer that brought the file there, from 1; 0 where nothing is there."""
        try:
            return self._node(path).layer
        except (Missing, Unreadable):
            return 0


class _Unbuffered(io.BufferedReader):
    """A buffer that reads no further than it is asked to: what lies behind may not have been kept."""

    def __init__(self, pieces: Pieces) -> None:
        super().__init__(pieces, buffer_size=1)


def _status(node: Node) -> FileStatus:
    entry = node.entry
    return FileStatus(
        kind=entry.kind,
        size_bytes=len(entry.target) if entry.kind == "link" else entry.size_bytes,
        mode=entry.mode,
        uid=entry.uid,
        gid=entry.gid,
        mtime=entry.mtime,
        device=_DEVICE,
        inode=node.number,
    )
