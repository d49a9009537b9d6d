"""ext2, ext3 and ext4, read where they lie: nothing is mounted, no program is asked; content is read by its extents.

A hostile one can only be read: every number is held against the size of the file system, and what is read of its maps
and directories has an end. Where it has checksums of its metadata (crc32c), those of all that is read of it are held;
the content of files has none. Sources: the Linux kernel, Documentation/filesystems/ext4 (super.rst, group_descr.rst,
inodes.rst, ifork.rst, blockmap.rst, directory.rst, checksums.rst), fs/ext4/namei.c (dx_tail).
"""

from __future__ import annotations

import shlex
import struct
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.image import ENTRIES_AT_MOST, Damaged, ImageError
from doctor.image.crc32c import START, crc32c
from doctor.image.disk import Disk
from doctor.image.keep import ZEROS, ByteRange
from doctor.image.layer import Entry, Layer
from doctor.image.stream import Tally

_SUPER_AT, _SUPER_BYTES, _MAGIC = 1024, 1024, 0xEF53
_ROOT = 2  # its inode
# Incompatible features whose files are read: filetype, extents, 64bit, mmp, flex_bg, ea_inode, csum_seed, largedir,
# encrypt (of files that are not), casefold.
_READ = 0x2 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x2000 | 0x4000 | 0x10000 | 0x20000
_JOURNAL, _64BIT, _FILETYPE, _SEED = 0x4, 0x80, 0x2, 0x2000
_SUMS = 0x400  # of the features that only writers must know: checksums of metadata
_SUM_AT, _SUM_HIGH_AT = 124, 130  # in an inode; of a group in its descriptor, of the superblock
_GROUP_SUM_AT, _SUPER_SUM_AT = 30, 1020
_TAIL_BYTES = 12  # of a block of a directory, an entry with its sum
_ENCRYPTED, _EXTENTS = 0x800, 0x80000  # of an inode
_EXTENT_MAGIC, _DEPTH_AT_MOST, _WRITTEN_AT_MOST = 0xF30A, 5, 32768
_FAST_LINK_BYTES = 60
_DIRECT = 12  # blocks of a file of ext2 that its inode names; the others stand in blocks of numbers
_MAPS_AT_MOST_BYTES = 256 << 20  # of blocks that say where content lies; a disk of 250 GB of ext3 has so many
_DIRECTORIES_AT_MOST_BYTES = ENTRIES_AT_MOST * 264
_PATH_AT_MOST_BYTES = 4096
_KINDS = {0x4000: "dir", 0x8000: "file", 0xA000: "link"}


class _Inode(NamedTuple):
    """A file, by whatever name."""

    number: int
    mode: int
    uid: int
    gid: int
    size: int
    mtime: int
    flags: int
    block: bytes  # the map of its content, or a short link's text
    seed: int  # of the sums of its blocks


def is_ext(disk: Disk, place: int) -> bool:
    """Whether such a file system begins there."""
    return disk.read(place + _SUPER_AT + 56, 2) == _MAGIC.to_bytes(2, "little")


def mounted(path: str, option: str) -> str:
    """What to type where it cannot be read."""
    return f"mount it, then look: sudo mount -o {option} {shlex.quote(path)} /mnt && gpudoctor check --root /mnt"


class Ext:
    """One file system."""

    def __init__(self, disk: Disk, path: str, place: int, tally: Tally) -> None:
        """`place` is where it begins in the file; raises Damaged, ImageError, OSError."""
        self._disk, self._path, self._place, self._tally = disk, path, place, tally
        said = self._read(_SUPER_AT, _SUPER_BYTES)
        inodes, low = struct.unpack_from("<II", said, 0)
        self._first, log = struct.unpack_from("<II", said, 20)
        self._of_group, self._inodes_of_group = struct.unpack_from("<I4xI", said, 32)
        revision, features = struct.unpack_from("<I", said, 76)[0], struct.unpack_from("<I", said, 96)[0]
        self._inode_bytes = struct.unpack_from("<H", said, 88)[0] if revision else 128
        self._group_bytes = struct.unpack_from("<H", said, 254)[0] if features & _64BIT else 32
        self._blocks = low | (struct.unpack_from("<I", said, 336)[0] << 32 if features & _64BIT else 0)
        self._has_kinds = bool(features & _FILETYPE)
        self._inodes = inodes
        option = f"ro,loop,offset={place}" if place else "ro,loop"
        if features & _JOURNAL:
            raise ImageError(
                f"{path}: it was not unmounted, and its journal waits: {mounted(path, f'{option},noload')}"
            )
        if features & ~_READ:
            raise ImageError(f"{path}: ext4 with features that are not read ({features & ~_READ:#x}): "
                             f"{mounted(path, option)}")  # fmt: skip
        is_sound = log <= 6 and self._of_group and self._inodes_of_group
        self._block_bytes = 1024 << log if is_sound else 0
        if not is_sound or not 128 <= self._inode_bytes <= self._block_bytes or self._group_bytes < 32:
            raise self._damaged("its superblock makes no sense")
        if self._blocks * self._block_bytes > disk.size_bytes - place:
            raise self._damaged("it ends before the file system that it tells of")
        self._seed: int | None = None  # of all sums but the superblock's, None where there are none
        if struct.unpack_from("<I", said, 100)[0] & _SUMS:
            self._held("superblock", crc32c(START, said[:_SUPER_SUM_AT]), _number(said, _SUPER_SUM_AT))
            self._seed = _number(said, 624) if features & _SEED else crc32c(START, said[104:120])
        self._groups: dict[int, bytes] = {}
        self._maps_bytes = _MAPS_AT_MOST_BYTES
        self._directories_bytes = _DIRECTORIES_AT_MOST_BYTES
        self._stretches_left = 2 * ENTRIES_AT_MOST

    def _damaged(self, what: str) -> Damaged:
        return Damaged(f"{self._path}: {what}")

    def _held(self, what: str, found: int, said: int) -> None:
        if found != said:
            raise self._damaged(f"the checksum of its {what} is wrong")

    def _read(self, place: int, size: int) -> bytes:
        content = self._disk.read(self._place + place, size)
        self._tally.read(len(content))
        if len(content) < size:
            raise self._damaged("it is cut short")
        return content

    def _inode(self, number: int) -> _Inode:
        if not 0 < number <= self._inodes:
            raise self._damaged(f"a name leads to inode {number}, of {self._inodes}")
        group, index = divmod(number - 1, self._inodes_of_group)
        listed = self._group(group)
        table = struct.unpack_from("<I", listed, 8)[0]
        if self._group_bytes >= 64:
            table |= struct.unpack_from("<I", listed, 40)[0] << 32
        whole = self._inode_bytes if self._seed is not None else 128
        said = self._read(table * self._block_bytes + index * self._inode_bytes, whole)
        seed = self._sum_of_inode(number, said)
        mode, uid, size = struct.unpack_from("<HHI", said, 0)
        mtime, gid = struct.unpack_from("<i4xH", said, 16)
        uid_high, gid_high = struct.unpack_from("<HH", said, 120)
        if mode & 0xF000 == 0x8000:
            size |= struct.unpack_from("<I", said, 108)[0] << 32
        flags = struct.unpack_from("<I", said, 32)[0]
        return _Inode(
            number=number,
            mode=mode,
            uid=uid | uid_high << 16,
            gid=gid | gid_high << 16,
            size=size,
            mtime=mtime,
            flags=flags,
            block=said[40:100],
            seed=seed,
        )

    def _group(self, group: int) -> bytes:
        """The descriptor of a group of blocks."""
        if group not in self._groups:
            listed = self._read((self._first + 1) * self._block_bytes + group * self._group_bytes, self._group_bytes)
            if self._seed is not None:
                empty = listed[:_GROUP_SUM_AT] + bytes(2) + listed[_GROUP_SUM_AT + 2 :]
                found = crc32c(crc32c(self._seed, group.to_bytes(4, "little")), empty)
                self._held(f"group {group}", found & 0xFFFF, _number(listed, _GROUP_SUM_AT, 2))
            self._groups[group] = listed
        return self._groups[group]

    def _sum_of_inode(self, number: int, said: bytes) -> int:
        """Hold an inode's checksum; what those of its blocks begin with."""
        if self._seed is None:
            return 0
        seed = crc32c(crc32c(self._seed, number.to_bytes(4, "little")), said[100:104])
        empty, expected = bytearray(said), _number(said, _SUM_AT, 2)
        empty[_SUM_AT : _SUM_AT + 2] = bytes(2)
        has_high = len(said) > 128 and _number(said, 128, 2) >= _SUM_HIGH_AT + 2 - 128
        if has_high:
            expected |= _number(said, _SUM_HIGH_AT, 2) << 16
            empty[_SUM_HIGH_AT : _SUM_HIGH_AT + 2] = bytes(2)
        found = crc32c(seed, bytes(empty))
        self._held(f"inode {number}", found if has_high else found & 0xFFFF, expected)
        return seed

    # --- where content lies ---------------------------------------------------------------------------------------

    def _stretches(self, inode: _Inode) -> tuple[ByteRange, ...]:
        """The content, in order and without gaps; what no block holds is zeros."""
        found: list[ByteRange] = []
        done = 0
        runs = self._extents(inode, inode.block, _DEPTH_AT_MOST) if inode.flags & _EXTENTS else self._mapped(inode)
        for first, count, block in runs:
            begin, size = first * self._block_bytes, count * self._block_bytes
            if begin < done or not self._first <= block <= self._blocks - count:
                raise self._damaged(f"inode {inode.number} leads out of the file system")
            if begin >= inode.size:
                break
            if begin > done:
                found.append(ByteRange(done, begin - done, ZEROS))
            at, size = self._place + block * self._block_bytes, min(size, inode.size - begin)
            last = found[-1] if found else None
            if last and last.kept_at != ZEROS and last.kept_at + last.size == at:
                found[-1] = last._replace(size=last.size + size)
            else:
                found.append(ByteRange(begin, size, at))
            done = begin + size
            if len(found) > self._stretches_left:
                raise ImageError(f"{self._path}: a file has too many pieces")
        if done < inode.size:
            found.append(ByteRange(done, inode.size - done, ZEROS))
        self._stretches_left -= len(found)
        return tuple(found)

    def _node(self, block: int) -> bytes:
        self._maps_bytes -= self._block_bytes
        if not self._first <= block < self._blocks or self._maps_bytes < 0:
            raise self._damaged("its maps lead out of the file system, or have no end")
        return self._read(block * self._block_bytes, self._block_bytes)

    def _extents(self, inode: _Inode, node: bytes, depth_at_most: int) -> Iterator[tuple[int, int, int]]:
        """First block of the file, how many, where; what was never written is left out."""
        magic, count, most, depth = struct.unpack_from("<4H", node, 0)
        if magic != _EXTENT_MAGIC or depth > depth_at_most or 12 + 12 * count > len(node):
            raise self._damaged("a map of extents makes no sense")
        if self._seed is not None and node is not inode.block:
            end = 12 + 12 * most
            self._held(f"map of inode {inode.number}", crc32c(inode.seed, node[:end]), _number(node, end))
        for number in range(count):
            if depth:
                low, high = struct.unpack_from("<4xIH", node, 12 + 12 * number)
                yield from self._extents(inode, self._node(low | high << 32), depth - 1)
                continue
            first, length, high, low = struct.unpack_from("<IHHI", node, 12 + 12 * number)
            if 0 < length <= _WRITTEN_AT_MOST:
                yield first, length, low | high << 32

    def _mapped(self, inode: _Inode) -> Iterator[tuple[int, int, int]]:
        """The same of ext2 and ext3, whose blocks are named one by one."""
        names = struct.unpack("<15I", inode.block)
        in_block = self._block_bytes // 4
        yield from ((number, 1, block) for number, block in enumerate(names[:_DIRECT]) if block)
        first = _DIRECT
        for depth, block in enumerate(names[_DIRECT:], start=1):
            if first * self._block_bytes >= inode.size:
                return
            yield from self._named_in(block, depth, first)
            first += in_block**depth

    def _named_in(self, block: int, depth: int, first: int) -> Iterator[tuple[int, int, int]]:
        if not block:
            return
        if not depth:
            yield first, 1, block
            return
        below = (self._block_bytes // 4) ** (depth - 1)
        for number, one in enumerate(struct.unpack(f"<{self._block_bytes // 4}I", self._node(block))):
            if one:
                yield from self._named_in(one, depth - 1, first + number * below)

    # --- names ----------------------------------------------------------------------------------------------------

    def _content(self, inode: _Inode) -> bytes:
        """Of a directory or a link."""
        self._directories_bytes -= inode.size
        if self._directories_bytes < 0:
            raise ImageError(f"{self._path}: directories without end")
        pieces = self._stretches(inode)
        return b"".join(
            bytes(one.size) if one.kept_at == ZEROS else self._read(one.kept_at - self._place, one.size)
            for one in pieces
        )

    def names(self, number: int = _ROOT) -> Iterator[tuple[bytes, int]]:
        """The names of a directory, and the inode of each; raises Damaged, ImageError."""
        inode = self._inode(number)
        if inode.flags & _ENCRYPTED:
            raise ImageError(f"{self._path}: an encrypted directory")
        content, at = self._content(inode), 0
        if self._seed is not None:
            for place in range(0, len(content), self._block_bytes):
                self._held_block(inode, content[place : place + self._block_bytes])
        while at + 8 <= len(content):
            target, length, size, kind = struct.unpack_from("<IHBB", content, at)
            size |= 0 if self._has_kinds else kind << 8
            if length < 8 or length % 4 or 8 + size > length or at + length > len(content):
                raise self._damaged(f"directory {number} makes no sense")
            name = content[at + 8 : at + 8 + size]
            if target and name not in {b".", b".."}:
                if not name or b"/" in name or b"\0" in name:
                    raise self._damaged(f"directory {number} has a name that none can be")
                yield name, target
            at += length

    def _held_block(self, inode: _Inode, block: bytes) -> None:
        """Hold the checksum of a block of a directory: one of names, or of a tree of their hashes."""
        end = len(block) - _TAIL_BYTES
        if block[end : end + 8] == b"\0\0\0\0\x0c\0\0\xde":
            found, said = crc32c(inode.seed, block[:end]), _number(block, end + 8)
        else:
            at = 8 if _number(block, 4, 2) == len(block) else 32
            end = at + 8 * _number(block, at, 2)
            used = block[: at + 8 * _number(block, at + 2, 2)]
            found, said = crc32c(inode.seed, used + block[end : end + 4] + bytes(4)), _number(block, end + 4)
        self._held(f"directory {inode.number}", found, said)

    def entries(self) -> tuple[Entry, ...]:
        """Every file, directories before what is in them; raises Damaged, ImageError."""
        found: list[Entry] = []
        seen = {_ROOT: b""}
        todo = [(b"", _ROOT)]
        while todo:
            above, directory = todo.pop()
            for name, number in self.names(directory):
                path = above + name
                if len(found) >= ENTRIES_AT_MOST or len(path) > _PATH_AT_MOST_BYTES:
                    raise ImageError(f"{self._path}: more than {ENTRIES_AT_MOST} files, or names without end")
                inode = self._inode(number)
                kind = _KINDS.get(inode.mode & 0xF000, "other")
                if number in seen and kind == "dir":
                    raise self._damaged(f"directory {number} is in two places")
                found.append(self._entry(path, inode, kind, seen.get(number)))
                seen.setdefault(number, path)
                if kind == "dir":
                    todo.append((path + b"/", number))
        return tuple(found)

    def _entry(self, path: bytes, inode: _Inode, kind: str, first: bytes | None) -> Entry:
        if not inode.mode & 0xF000:
            raise self._damaged(f"a name leads to inode {inode.number}, which is no file")
        target = b""
        if first is not None:
            kind, target = "hard", first
        elif kind == "link":
            is_short = inode.size < _FAST_LINK_BYTES and not inode.flags & _EXTENTS
            if inode.size > _PATH_AT_MOST_BYTES:
                raise self._damaged(f"inode {inode.number} is a link of {inode.size} bytes")
            target = inode.block[: inode.size] if is_short else self._content(inode)
        return Entry(
            name=path.decode("utf-8", "surrogateescape"),
            kind=kind,
            mode=inode.mode & 0o7777,
            uid=inode.uid,
            gid=inode.gid,
            size_bytes=inode.size if kind == "file" else 0,
            mtime=float(inode.mtime),
            target=target.decode("utf-8", "surrogateescape"),
            stretches=self._stretches(inode) if kind == "file" and not inode.flags & _ENCRYPTED else (),
        )


def _number(content: bytes, at: int, size: int = 4) -> int:
    """Nothing where it lies behind the end, which no sum holds."""
    return int.from_bytes(content[at : at + size], "little")


def read_ext(disk: Disk, path: str, place: int, tally: Tally) -> Layer:
    """The files of an ext2, ext3 or ext4 that begins there; raises Damaged, ImageError, OSError."""
    return Layer(Ext(disk, path, place, tally).entries(), disk)
