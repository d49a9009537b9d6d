"""Raw disks: which of their partitions holds the system.

Sources: UEFI specification 2.10, "GUID Partition Table (GPT) Disk Layout" and "Legacy Master Boot Record"; util-linux,
libblkid/src/superblocks (what begins a file system).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.image import Damaged, ImageError, mounting
from doctor.image.disk import Disk
from doctor.image.ext import Ext, is_ext
from doctor.image.layer import Layer
from doctor.image.stream import Tally

_SIGNATURE_AT, _SIGNATURE = 510, b"\x55\xaa"
_PROTECTIVE = 0xEE
_GPT = b"EFI PART"
_SECTORS = (512, 4096)
_PARTITIONS_AT_MOST, _LISTED_AT_MOST_BYTES = 1024, 4096
_OF_SYSTEMS = {b"etc", b"usr"}
_OTHERS = (
    (0, b"XFSB", "XFS"), (0x10040, b"_BHRfS_M", "btrfs"), (512, b"LABELONE", "LVM"), (0, b"LUKS\xba\xbe", "LUKS"),
    (0x36, b"FAT", "FAT"), (0x52, b"FAT32", "FAT"), (4086, b"SWAPSPACE2", "swap"), (3, b"NTFS", "NTFS"),
)  # fmt: skip


class Partition(NamedTuple):
    """A part of a disk."""

    number: int  # as Linux counts, from 1
    place: int
    size: int
    kind: str  # "ext4", "XFS", "" for what is not known


def other_kind(disk: Disk) -> str:
    """Return the file system or volume that a disk without partitions is, "XFS"; "" for none that is known."""
    return next((kind for at, magic, kind in _OTHERS if disk.read(at, len(magic)) == magic), "")


def has_partitions(start: bytes) -> bool:
    """Whether a disk that begins so has a table of partitions."""
    return start[_SIGNATURE_AT : _SIGNATURE_AT + 2] == _SIGNATURE


def partitions(disk: Disk, path: str) -> tuple[Partition, ...]:
    """Those of an MBR (without logical ones) or a GPT; raises Damaged."""
    found = []
    for number, (place, size) in enumerate(_listed(disk, path), start=1):
        if size <= 0:
            continue
        if place + size > disk.size_bytes:
            raise Damaged(f"{path}: it ends before its partition {number}")
        found.append(Partition(number, place, size, _kind(disk, place)))
    return tuple(found)


def _listed(disk: Disk, path: str) -> Iterator[tuple[int, int]]:
    table = disk.read(446, 64)
    entries = [struct.unpack_from("<4xB3xII", table, 16 * number) for number in range(4)]
    if any(kind == _PROTECTIVE for kind, _, _ in entries):
        yield from _of_gpt(disk, path)
        return
    for kind, first, count in entries:
        yield (first * 512, count * 512) if kind else (0, 0)


def _of_gpt(disk: Disk, path: str) -> Iterator[tuple[int, int]]:
    sector = next((one for one in _SECTORS if disk.read(one, len(_GPT)) == _GPT), 0)
    if not sector:
        raise Damaged(f"{path}: its GPT has no header")
    at, total, each = struct.unpack_from("<QII", disk.read(sector, 512).ljust(512, b"\0"), 72)
    if not 128 <= each <= _LISTED_AT_MOST_BYTES or not 0 < total <= _PARTITIONS_AT_MOST or at * sector > 1 << 62:
        raise Damaged(f"{path}: its GPT makes no sense")
    table = disk.read(at * sector, total * each)
    for number in range(len(table) // each):
        kind, first, last = struct.unpack_from("<16s16xQQ", table, number * each)
        yield (first * sector, (last - first + 1) * sector) if any(kind) else (0, 0)


def _kind(disk: Disk, place: int) -> str:
    if is_ext(disk, place):
        return "ext4"
    return next((kind for at, magic, kind in _OTHERS if disk.read(place + at, len(magic)) == magic), "")


def read_disk(disk: Disk, path: str, name: str, tally: Tally) -> Layer:
    """The files of the ext4 partition of that number, of the one with a system for ""; raises ImageError, Damaged."""
    there = partitions(disk, path)
    listing = ", ".join(f"{one.number} {one.kind or 'unknown'}" for one in there) or "none"
    systems = [one for one in there if one.kind == "ext4"]
    if name:
        systems = [one for one in systems if str(one.number) == name]
    elif len(systems) > 1:
        systems = [one for one in systems if {each for each, _ in _ext(disk, path, one, tally).names()} >= _OF_SYSTEMS]
    if len(systems) > 1:
        raise ImageError(f"{path} has several systems; name a partition, {path}:NUMBER: {listing}")
    if not systems:
        wanted = f"no ext4 partition {name}" if name else "no ext4 partition with a system"
        raise ImageError(f"{path} has {wanted} ({listing}){_to_mount(path, there, name)}")
    return Layer(_ext(disk, path, systems[0], tally).entries(), disk)


def _to_mount(path: str, there: tuple[Partition, ...], name: str) -> str:
    """The commands for the partition that was named, else for the largest one with a file system."""
    named = [one for one in there if not name or str(one.number) == name]
    for one in sorted(named, key=lambda each: each.size, reverse=True):
        if commands := mounting.of_partition(path, one.kind, one.place, one.size):
            return f". Mount {one.kind} of partition {one.number} read-only: {commands}"
    return ""


def _ext(disk: Disk, path: str, one: Partition, tally: Tally) -> Ext:
    return Ext(disk, path, one.place, tally)
