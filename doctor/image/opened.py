"""An image by what a user calls it: found, recognised by its first bytes, and read."""

from __future__ import annotations

import gc
import os

from compat.base.compression import packing_of
from compat.base.record import NamedTuple
from doctor.host import progress
from doctor.image import KEPT_AT_MOST_BYTES, Damaged, ImageError, mounting
from doctor.image.cache import LayerCache
from doctor.image.child import Piped
from doctor.image.config import Config, parse_config
from doctor.image.disk import Disk, Scratch
from doctor.image.ext import is_ext, read_ext
from doctor.image.layer import Layer, read_packed
from doctor.image.manifest import Chosen, choose_image
from doctor.image.partition import has_partitions, other_kind, read_disk
from doctor.image.squash import SIF, SIF_AT, SQUASHFS, read_squash
from doctor.image.store import FolderStore, Store, StreamStore, TarStore
from doctor.image.stream import Feed, Tally, chunks_of, stretches_of, unpacked
from doctor.image.tools import Exported, exported
from doctor.image.tree import Tree

_TAR_AT, _TAR = 257, b"ustar"
# Names at the top of a tar that `docker save` and its like write; a root tar has none of them.
_OF_ARCHIVES = frozenset(("oci-layout", "index.json", "manifest.json", "repositories", "blobs"))
_START_BYTES = 64 << 10
# First bytes of disk images, and where they stand.
_DISKS = (
    (0, b"QFI\xfb", "qcow2"), (0, b"vhdxfile", "VHDX"), (0, b"KDMV", "VMDK"), (0, b"# Disk DescriptorFile", "VMDK"),
    (0, b"conectix", "VHD"),
)  # fmt: skip


class ImageRequest(NamedTuple):
    """Which image, as the user said it."""

    reference: str
    platform: str = ""  # "linux/arm64"; "" for this machine's
    config: str = ""  # a file with its configuration
    uses_cache: bool = True  # of layers that were read before


class LayerInfo(NamedTuple):
    """A layer, as evidence names it."""

    digest: str  # "" where the file has none
    made_by: str  # the line of the history that made it, "" where none is known


class Image(NamedTuple):
    """An image that was read."""

    name: str
    format: str  # "OCI layout", "container archive", "root tar"
    names: tuple[str, ...]
    digest: str
    config: Config
    layers: tuple[LayerInfo, ...]
    tree: Tree
    tally: Tally
    spool: Scratch


def open_image(request: ImageRequest) -> Image:
    """Read an image; raises ImageError with one line that says what is wrong, or what to type."""
    if not request.reference:
        raise ImageError("the image's name is empty")
    path, name = _path_and_name(request.reference)
    collects = gc.isenabled()
    gc.disable()  # it would go through all entries again and again, and none is part of a cycle
    try:
        image = _Opening(path, name, request).open()
    except OSError as error:
        raise ImageError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    finally:
        progress.show("")
        if collects:
            gc.enable()
    return image._replace(config=config_file(request.config)) if request.config else image


class _Opening:
    """One image on its way: where it lies, what is kept of it, and what reading it costs."""

    def __init__(self, path: str, name: str, request: ImageRequest) -> None:
        self._path, self._name, self._platform = path, name, request.platform
        self._cache = LayerCache(is_used=request.uses_cache)
        self._spool = Scratch(KEPT_AT_MOST_BYTES)
        size = os.path.getsize(path) if os.path.isfile(path) else 0
        self._tally = Tally(os.path.basename(path), size)

    def open(self) -> Image:
        """Raises ImageError, OSError."""
        command = None if os.path.lexists(self._path) else exported(self._path, self._platform)
        if command is not None:
            return self._of_command(command)
        if not os.path.isdir(self._path):
            return self._of_file(Disk(self._path))
        store = FolderStore(self._path, self._spool, self._tally, self._cache)
        if store.has("index.json") or store.has("manifest.json"):
            return self._of_store(store, "OCI layout")
        raise ImageError(
            f"{self._path} is a directory and no OCI layout; look at a root directory by --root {self._path}"
        )

    def _of_file(self, disk: Disk) -> Image:
        start = disk.read(0, _START_BYTES)
        if start[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
            store = TarStore(disk, self._path, self._spool, self._tally, self._cache)
            if store.has("index.json") or store.has("manifest.json"):
                return self._of_store(store, "container archive")
            return self._of_root(store.whole)
        if packing_of(start):
            packed = chunks_of(stretches_of(disk, 0, disk.size_bytes), self._tally)
            _, chunks = unpacked(packed, self._path, self._tally)
            return self._of_stream(Feed(chunks, self._path), is_packed=True)
        if start.startswith(SQUASHFS) or start[SIF_AT:].startswith(SIF):
            kind = "SIF" if start[SIF_AT:].startswith(SIF) else "squashfs"
            return self._of_root(read_squash(disk, self._path, self._spool, self._tally), kind)
        _refuse(self._path, start)
        if is_ext(disk, 0):
            return self._of_root(read_ext(disk, self._path, 0, self._tally), "ext4")
        if kind := other_kind(disk):  # before partitions: NTFS and FAT begin with their signature
            commands = mounting.of_partition(self._path, kind, 0, disk.size_bytes)
            more = f": mount it read-only: {commands}" if commands else ", which holds no system"
            raise ImageError(f"{self._path} is {kind} without partitions{more}")
        if has_partitions(start):
            layer = read_disk(disk, self._path, self._name, self._tally)
            return self._of_root(layer, "raw disk", has_names=True)
        raise ImageError(f"{self._path} is no image that is read (OCI layout or archive, docker save tar, root tar)")

    def _of_command(self, command: Exported) -> Image:
        """What the tool of a store writes; nothing of it lies on the disk."""
        with Piped(command.argv, command.program, self._path, hint=command.hint) as child:
            return self._of_stream(Feed(chunks_of(child.chunks(), self._tally), self._path), is_packed=False)

    def _of_stream(self, feed: Feed, *, is_packed: bool) -> Image:
        """A tar that can be read once only: what it is, its first name says."""
        start = feed.peek(1024)
        if start[_TAR_AT : _TAR_AT + len(_TAR)] != _TAR:
            raise ImageError(f"{feed.shown}: its unpacked content is not a tar archive")
        first = start[:100].partition(b"\0")[0].decode("utf-8", "replace").removeprefix("./")
        if _is_archive_name(first):
            return self._of_store(StreamStore(feed, self._spool, self._tally, is_packed=is_packed), "container archive")
        return self._of_root(read_packed(feed, self._spool))

    def _of_root(self, layer: Layer, kind: str = "root tar", *, has_names: bool = False) -> Image:
        if self._name and not has_names:
            raise ImageError(f"{self._path} is a {kind}, which holds no image {self._name}")
        if self._platform:
            raise ImageError(f"{self._path} is a {kind}, whose platform nobody chooses")
        if not layer.entries:
            raise Damaged(f"{self._path}: an empty {kind.removeprefix('root ')}")
        if not layer.has_end:  # no digest speaks of it, as of a layer of umoci's, which has none either
            raise Damaged(f"{self._path}: cut short, or spoilt: it has no zeros at its end, or entries behind them")
        tree = Tree(iter((layer,)), whiteouts=False)
        return self._image(kind, Chosen((), "", Config(), ()), tree)

    def _of_store(self, store: Store, kind: str) -> Image:
        chosen = choose_image(store, self._path, self._name, self._platform)
        return self._image(kind, chosen, Tree(store.layer(*one) for one in chosen.layers))

    def _image(self, kind: str, chosen: Chosen, tree: Tree) -> Image:
        return Image(
            name=f"{self._path}:{self._name}" if self._name else self._path,
            format=kind,
            names=chosen.names,
            digest=chosen.digest,
            config=chosen.config,
            layers=_infos(chosen) or (LayerInfo("", ""),),
            tree=tree,
            tally=self._tally,
            spool=self._spool,
        )


def _path_and_name(reference: str) -> tuple[str, str]:
    """FILE or FILE:NAME."""
    if os.path.lexists(reference):
        return reference, ""
    path = reference
    while ":" in path:
        path = path.rpartition(":")[0]
        if path and os.path.lexists(path):
            return path, reference[len(path) + 1 :]
    return reference, ""


def config_file(path: str) -> Config:
    """What --config names; raises ImageError."""
    try:
        with open(path, "rb") as stream:
            return parse_config(stream.read((4 << 20) + 1), path)
    except OSError as error:
        raise ImageError(f"{path}: {(error.strerror or str(error)).lower()}") from error


def _is_archive_name(name: str) -> bool:
    """Whether a file of this name is a part of what `docker save` and its like write."""
    first = name.partition("/")[0]
    encoded = first.removesuffix(".json").removesuffix(".tar")
    return first in _OF_ARCHIVES or (len(encoded) == 64 and all(one in "0123456789abcdef" for one in encoded))


def _infos(chosen: Chosen) -> tuple[LayerInfo, ...]:
    lines = {step.layer: step.text for step in chosen.config.history if step.layer}
    return tuple(LayerInfo(one.digest, lines.get(number, "")) for number, one in enumerate(chosen.layers, start=1))


def _refuse(path: str, start: bytes) -> None:
    """Raise ImageError for a disk image, with what to type."""
    for place, magic, kind in _DISKS:
        if start[place : place + len(magic)] == magic:
            raise ImageError(f"{path} is a {kind} image: mount it read-only: {mounting.of_image(path)}")
