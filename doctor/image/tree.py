"""The files of an image, one layer laid over the other, as the OCI image specification has it.

A whiteout takes away what lower layers brought, never what its own layer brings, wherever in the layer it stands; an
opaque directory hides all that lower layers put into it. Links on the way to a file are followed inside the image, as
they are by what unpacks a layer onto those below. Source: OCI image specification, "Applying Changesets".
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.image import ENTRIES_AT_MOST, Damaged, ImageError
from doctor.image.disk import Disk
from doctor.image.layer import Entry, Layer, directory

_WHITEOUT, _OPAQUE = ".wh.", ".wh..wh..opq"
_AUFS = ".wh..wh."  # aufs' own files, which no image means
_NO_NAMES = frozenset(("", ".", ".."))
_LINKS_AT_MOST = 40  # as the Linux kernel: MAXSYMLINKS
_DEEP = 512  # directories in one another


class Node:
    """A file, directory or link of the image."""

    __slots__ = ("children", "entry", "layer", "number", "source", "touched")

    def __init__(self, entry: Entry, layer: int, number: int, source: Disk | None = None) -> None:
        self.entry = entry
        self.layer = layer  # that brought it
        self.touched = layer  # the last layer that brought it or something below it
        self.number = number
        self.source = source
        self.children: dict[str, Node] | None = {} if entry.kind == "dir" else None


class Tree:
    """The files as they lie over one another."""

    def __init__(self, layers: Iterator[Layer], *, whiteouts: bool = True) -> None:
        """Raises Damaged, ImageError. A tar that is a whole root has no whiteouts: such names are files."""
        self._count = 0
        self._followed = 0  # links on the way to a directory
        self._whiteouts = whiteouts
        self.root = self._node(directory(), 0)
        for number, layer in enumerate(layers, start=1):
            self._apply(layer, number)

    def _node(self, entry: Entry, layer: int, source: Disk | None = None) -> Node:
        self._count += 1
        if self._count > ENTRIES_AT_MOST:
            raise ImageError(f"the image has more than {ENTRIES_AT_MOST} files")
        return Node(entry, layer, self._count, source)

    def _apply(self, layer: Layer, number: int) -> None:
        known, above = "", None  # the directory of the last entry: mostly the next one lies there, too
        for entry in layer.entries:
            path, _, base = entry.name.rpartition("/")
            if above is not None and path == known and base not in _NO_NAMES and not base.startswith(_WHITEOUT):
                self._put(above, base, entry, number, layer.source)
                continue
            above, parts, followed = None, parts_of(entry.name), self._followed
            if parts and self._whiteouts and parts[-1].startswith(_WHITEOUT):
                self._white_out(parts, number)
            elif parts:
                into = self._folder(parts[:-1], number, make=True)
                if into is None or into.children is None:
                    raise Damaged(f"{entry.name[:200]!r}: its directory is not a directory")
                self._put(into.children, parts[-1], entry, number, layer.source)
                if followed == self._followed and base not in _NO_NAMES:  # what lies behind a link may replace it
                    known, above = path, into.children

    def _white_out(self, parts: list[str], layer: int) -> None:
        above = self._folder(parts[:-1], layer, make=False)
        if above is None or above.children is None:
            return
        if parts[-1] == _OPAQUE:
            for name in [*above.children]:
                _remove_lower(above.children, name, layer)
        elif not parts[-1].startswith(_AUFS):
            name = parts[-1][len(_WHITEOUT) :]
            if name not in _NO_NAMES:
                _remove_lower(above.children, name, layer)

    def _put(self, above: dict[str, Node], name: str, entry: Entry, layer: int, source: Disk) -> None:
        there = above.get(name)
        if entry.kind == "hard":
            other = self._other_name(entry)
            above[name] = Node(other.entry, layer, other.number, other.source)  # the name is this layer's
        elif entry.kind == "dir" and there is not None and there.children is not None:
            there.entry, there.touched, there.layer = entry, layer, layer
        else:
            above[name] = self._node(entry, layer, source)

    def _other_name(self, entry: Entry) -> Node:
        node = self.find(parts_of(entry.target), follow_last=False)
        if node is None or node.children is not None:
            raise Damaged(f"{entry.name[:200]!r}: a hard link to {entry.target[:200]!r}, which is not a file before it")
        return node

    def _folder(self, parts: list[str], layer: int, *, make: bool) -> Node | None:
        """The directory there, links followed; the missing ones are made. None for a file, or where none is made."""
        if len(parts) > _DEEP:
            raise Damaged(f"{'/'.join(parts)[:200]!r}: the path has more than {_DEEP} directories")
        done, todo, links = [self.root], parts[::-1], 0
        while todo:
            part = todo.pop()
            if part == "..":
                if len(done) > 1:
                    done.pop()
                continue
            children = done[-1].children
            if children is None:
                return None
            node = children.get(part)
            if node is None:
                if not make:
                    return None
                node = children[part] = self._node(directory(), layer)
            if node.entry.kind == "link":
                links, self._followed = links + 1, self._followed + 1
                if links > _LINKS_AT_MOST:
                    raise Damaged(f"{'/'.join(parts)[:200]!r}: its links form a loop")
                done = [self.root] if node.entry.target.startswith("/") else done
                todo.extend(_split(node.entry.target)[::-1])
                continue
            done.append(node)
        if make:
            for node in done:
                node.touched = layer
        return done[-1]

    def find(self, parts: list[str], *, follow_last: bool) -> Node | None:
        """What is there, links on the way followed; None for nothing."""
        if follow_last:
            return self._folder(parts, 0, make=False)
        above = self._folder(parts[:-1], 0, make=False) if parts else None
        return above.children.get(parts[-1]) if above and above.children is not None else None


def _remove_lower(children: dict[str, Node], name: str, layer: int) -> None:
    """Take away what layers below brought under this name, and leave what this layer did."""
    node = children.get(name)
    if node is None:
        return
    if node.touched < layer:
        del children[name]
    elif node.children is not None:
        node.layer = layer
        for one in [*node.children]:
            _remove_lower(node.children, one, layer)


def parts_of(name: str) -> list[str]:
    """The components of a name in a tar, which never leads out of the root."""
    parts: list[str] = []
    for part in _split(name):
        if part == "..":
            del parts[-1:]
        else:
            parts.append(part)
    return parts


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]
