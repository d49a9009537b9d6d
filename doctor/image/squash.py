"""squashfs, as Enroot's `.sqsh` and Apptainer's SIF hold it, by the system's `unsquashfs`.

It knows every compression, and writes the whole file system to its output, names first and then the contents one after
the other ("pseudo file"), so that it streams by as a packed layer does. Sources: squashfs-tools 4.5,
USAGE-UNSQUASHFS ("-pf"), unsquashfs.c (pseudo_print); sylabs/sif, pkg/sif (header, descriptors).
"""

from __future__ import annotations

import re
import shlex
import shutil
import struct

from doctor.image import ENTRIES_AT_MOST, Damaged, ImageError
from doctor.image.child import Piped
from doctor.image.disk import Disk, Scratch
from doctor.image.ext import is_ext, read_ext
from doctor.image.keep import PartialExtractor
from doctor.image.layer import Entry, Layer, directory
from doctor.image.stream import Feed, Tally, refuse_bomb

SQUASHFS, SIF, SIF_AT = b"hsqs", b"SIF_MAGIC", 32
_EMPTY, _BEGINS = b"#\n", b"# START OF DATA"
_LINE_AT_MOST_BYTES = 64 << 10  # names have 4 KiB, and a link's text as much; each byte may be escaped
_NAME = rb"((?:[^ \\]|\\.)+?)"
_ENTRY = re.compile(_NAME + rb" ([A-Z]) (-?\d{1,20}) ([0-7]{1,8}) (-?\d{1,20}) (-?\d{1,20})(?: (.*))?\n", re.DOTALL)
_SIZE = re.compile(rb"\d{1,18}(?= )")
_LINK = re.compile(_NAME + b" L " + _NAME + b"\n", re.DOTALL)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_OPTIONS = ("-n", "-no-xattrs", "-p", "2", "-da", "16", "-fr", "16")  # threads, and MiB of memory
_OUTPUT = "/proc/self/fd/1"  # as root unsquashfs unlinks what it failed to write, which here cannot be; /dev/stdout can
_UNKNOWN_OPTION = "invalid option"
_KINDS = {b"D": "dir", b"S": "link", b"R": "file"}

_HEADER = struct.Struct("<32s10s3s3s16sqqqqqqqq")  # launcher, magic, version, system; times; descriptors, data
_DESCRIPTOR = struct.Struct("<i?IIIqqqqqqq128sii")  # type, in use, three numbers; offset, size, padded; times, owners
_DESCRIPTOR_BYTES = 585
_DESCRIPTORS_AT_MOST = 1_000
_PARTITION, _MAIN = 0x4004, 2
_OCI_INDEX = 0x400A
_READ_HERE = {1, 2}  # squashfs, ext3
_FILE_SYSTEMS = {3: "archive", 4: "raw", 5: "encrypted squashfs"}


def read_squash(disk: Disk, path: str, spool: Scratch, tally: Tally) -> Layer:
    """The files of a squashfs, or of a SIF's main partition; raises ImageError, Damaged, OSError."""
    start = disk.read(0, _HEADER.size)
    place, size = _main_partition(disk, path, start) if start[SIF_AT:].startswith(SIF) else (0, disk.size_bytes)
    if is_ext(disk, place):
        return read_ext(disk, path, place, tally)
    if disk.read(place, len(SQUASHFS)) != SQUASHFS:
        raise Damaged(f"{path}: no file system begins where it should")
    program = shutil.which("unsquashfs")
    by_hand = f"unsquashfs -d root{f' -o {place}' if place else ''} {shlex.quote(path)} && gpudoctor check --root root"
    if program is None:
        raise ImageError(f"{path} holds a squashfs, which `unsquashfs` of squashfs-tools reads: install it")
    argv = ("unsquashfs", *_OPTIONS, "-o", str(place), "-pf", _OUTPUT)
    tally.read(size)
    here = f"./{path}" if path.startswith("-") else path
    try:
        with Piped((*argv, here), program, path, is_bounded=True) as child:
            return _read(Feed(child.chunks(), path), size, spool, tally)
    except ImageError as error:
        if _UNKNOWN_OPTION in str(error):
            raise ImageError(f"{path}: this unsquashfs is older than 4.5. Unpack it: {by_hand}") from None
        raise


def _read(feed: Feed, packed_bytes: int, spool: Scratch, tally: Tally) -> Layer:
    """Names, then contents in the same order."""
    found: list[Entry] = []
    name = b""  # what came of one by now: line ends in names are not escaped before squashfs-tools 4.6
    while not (line := _line(feed)).startswith(_BEGINS):
        entry = _entry(name + line)
        name = b"" if entry or line == _EMPTY else name + line
        if entry is not None:
            found.append(entry)
        if len(found) > ENTRIES_AT_MOST or len(name) > _LINE_AT_MOST_BYTES:
            raise ImageError(f"{feed.shown}: more than {ENTRIES_AT_MOST} files, or names without end")
    _line(feed)  # a last "#"
    tally.unpacked(sum(one.size_bytes for one in found))
    refuse_bomb(feed.shown, packed_bytes, tally.unpacked_bytes)
    keeper = PartialExtractor(spool)
    for number, entry in enumerate(found):
        if entry.kind == "file":
            stretches = keeper.keep(entry.name, entry.size_bytes, feed.take(entry.size_bytes))
            found[number] = entry._replace(stretches=stretches)
    feed.drain()
    return Layer(tuple(found), spool)


def _line(feed: Feed) -> bytes:
    """The next one, with its end; raises Damaged."""
    line = b""
    while not line.endswith(b"\n"):
        more = feed.line()
        line += more
        if not more or len(line) > _LINE_AT_MOST_BYTES:
            raise Damaged(f"{feed.shown}: unsquashfs lists no names as it should")
    return line


def _entry(line: bytes) -> Entry | None:
    """One line of the list, None for what is none as it stands."""
    if link := _LINK.fullmatch(line):
        return directory()._replace(name=_text(link[1]), kind="hard", target=_text(link[2]))
    said = _ENTRY.fullmatch(line)
    if said is None:
        return None
    kind, rest = _KINDS.get(said[2], "other"), said[7] or b""
    length = _SIZE.match(rest) if kind == "file" else None
    return Entry(
        name=_text(said[1]),
        kind=kind,
        mode=int(said[4], 8) & 0o7777,
        uid=int(said[5]),
        gid=int(said[6]),
        size_bytes=int(length[0]) if length else 0,
        mtime=float(said[3]),
        target=rest.decode("utf-8", "surrogateescape") if kind == "link" else "",
        stretches=(),
    )


def _text(escaped: bytes) -> str:
    return _ESCAPED.sub(rb"\1", escaped).decode("utf-8", "surrogateescape")


def _main_partition(disk: Disk, path: str, start: bytes) -> tuple[int, int]:
    """Where the file system of the container is in a SIF, and its size; raises ImageError, Damaged."""
    if len(start) < _HEADER.size:
        raise Damaged(f"{path}: its SIF header is cut short")
    total, place = _HEADER.unpack(start)[8:10]
    if not 0 < total <= _DESCRIPTORS_AT_MOST or place < 0:
        raise Damaged(f"{path}: its SIF header lists {total} objects")
    by_hand = f"apptainer build --sandbox root {shlex.quote(path)} && gpudoctor check --root root"
    there = disk.read(place, total * _DESCRIPTOR_BYTES)
    for at in range(0, len(there) - _DESCRIPTOR_BYTES + 1, _DESCRIPTOR_BYTES):
        kind, is_used, _, _, _, offset, size, *_, system, use = _DESCRIPTOR.unpack_from(there, at)
        if is_used and kind == _OCI_INDEX:
            raise ImageError(
                f"{path} is an OCI-SIF: apptainer build --sandbox root {shlex.quote(path)}, then --root root"
            )
        if not is_used or kind != _PARTITION or use != _MAIN:
            continue
        if system not in _READ_HERE:
            raise ImageError(f"{path} is a SIF of {_FILE_SYSTEMS.get(system, 'an unknown file system')}: {by_hand}")
        if offset < 0 or size <= 0 or offset + size > disk.size_bytes:
            raise Damaged(f"{path}: it ends before the file system that its SIF header tells of")
        return offset, size
    raise Damaged(f"{path}: its SIF header names no main partition")
