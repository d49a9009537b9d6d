"""Which GPUs a CUDA library or extension module has code for, read from its file; nothing is run.

nvcc puts the code of one source file into a container (a "fat binary"), one entry for each architecture, and the
containers one behind the other into a section of the library. Only the headers of containers and entries are read,
never the code between them, so a library of a gigabyte costs some hundred kilobytes.

Sources: the section names and the wrapper are in the CUDA toolkit's `fatbinary_section.h`. The headers of containers
and entries are not published: they were read from what nvcc 13.0 writes for known `-gencode` options (flag bit 20 is
the suffix "a", bit 21 the suffix "f") and are held against cuobjdump in `tests/binaries/test_fatbin.py`;
libraries from CUDA 8 on have the same.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO, cast

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.version import CodeTarget, ComputeCapability
from doctor.binaries import NotRead
from doctor.binaries.elf import Elf, ElfError

if TYPE_CHECKING:
    from doctor.binaries.pe import Pe

MAGIC = b"\x50\xed\x55\xba"
HEAD = struct.Struct("<4sHHQ")  # magic, version, size of this header, size of the entries
_ENTRY = struct.Struct("<HHIQ12xI8xQ")  # kind, version, size of this header, of the code; architecture; flags
_WRAPPER = struct.Struct("<IIQQ")  # magic, version, address of a container, of its file name or of others to link
_WRAPPER_MAGIC = 0x466243B1
_PTX, _SASS = 1, 2
_KIND_AT_MOST = 0x40  # the highest kind seen; what is above is no entry
_A_BIT, _F_BIT = 1 << 20, 1 << 21  # flags of an entry: the suffixes of sm_90a and sm_100f
_SUFFIX_BITS = _A_BIT | _F_BIT

SECTIONS = (".nv_fatbin", "__nv_relfatbin", ".nv_fatb", "__nv_rel")  # the last two are PE: names of 8 characters
_WRAPPERS = ".nvFatBinSegment"

_HEADER_AT_MOST_BYTES = 4096  # of a container
# Bounds, each with the most that was seen in 506 libraries of real wheels (torch 1.13 to 2.15, TensorFlow, JAX, CuPy,
# Paddle, cuDF, NVIDIA's own; the largest has 1.8 GiB): what ends at one is not read, which is no damage.
_STRETCHES_AT_MOST = 16  # sections or segments: 2
_CONTAINERS_AT_MOST = 50_000  # 3,015, in cuBLASLt
_ENTRIES_AT_MOST = 200_000  # 6,275, in cuDNN's engines
_WRAPPERS_AT_MOST_BYTES = 50_000 * _WRAPPER.size  # one for each container
_SEARCHED_AT_MOST_BYTES = 64 << 20  # where no header says where the next container begins: 71 KB
_BLOCK_BYTES = 1 << 20
_GAP_BYTES = 256  # read first: linkers for ARM and Windows leave some 100 behind each container (onnxruntime 1.31: 609)
_SAMPLES = 16  # places at which it is looked whether the file is in memory


class FatbinError(GpudoctorError):
    """The file is no library, or it is damaged before its GPU code; the message says how."""


class FatbinNotRead(FatbinError, NotRead):
    """A bound of ours or the system ended the reading before the GPU code: whether it is damaged is not known."""


class Piece(NamedTuple):
    """The code of a library for one architecture."""

    target: CodeTarget
    entries: int  # how many, in all
    containers: int  # how many hold such an entry


class GpuCode(NamedTuple):
    """The GPU code of one library."""

    pieces: tuple[Piece, ...]  # by architecture
    others: int = 0  # entries that are neither SASS nor PTX, such as LTO-IR, which runs only once it is linked
    damage: str = ""  # what is wrong with the file, "" where nothing is
    unread: str = ""  # the bound of ours at which the reading ended, which says nothing about the file; "" for none

    @property
    def gap(self) -> str:
        """Why this is not all of the library's code, "" where it is."""
        return self.damage or self.unread

    @property
    def targets(self) -> tuple[CodeTarget, ...]:
        """Every architecture."""
        return tuple(piece.target for piece in self.pieces)

    @property
    def main_targets(self) -> tuple[CodeTarget, ...]:
        """Those that most of the code was built for.

        A library may hold a few sources for other architectures than the rest: a kernel for one card's special units
        does not make the others run there. Containers of PTX alone have no say in that: a library may hold many more
        of them than of machine code (libtensorflow_framework.so.2 of TensorFlow 2.20: 130 against 36).
        """
        real = [piece for piece in self.pieces if piece.target.kind == "sm"]
        most = max((piece.containers for piece in real or self.pieces), default=0)
        return tuple(piece.target for piece in self.pieces if 2 * piece.containers >= most)


class _File:
    """A file that is read here and there; raises OSError."""

    def __init__(self, file: BinaryIO, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._file = file
        self._samples_left, self._resident = _SAMPLES, hasattr(os, "RWF_NOWAIT")
        try:
            self._descriptor = file.fileno() if hasattr(os, "posix_fadvise") else -1
        except OSError:  # io.UnsupportedOperation: a file in memory
            self._descriptor = -1
        if self._descriptor >= 0:  # no reading ahead: what follows a header is code
            os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_RANDOM)

    def read(self, place: int, size: int) -> bytes:
        """These bytes, fewer where the file ends."""
        size = min(size, self.size_bytes - place)
        if size <= 0:
            return b""
        if self._descriptor >= 0:
            return os.pread(self._descriptor, size, place)
        self._file.seek(place)
        return self._file.read(size)

    def expect(self, place: int, size: int) -> None:
        """Have the system fetch these bytes meanwhile: one by one, headers on a cold disk take four times as long."""
        if self._descriptor >= 0 and not self._is_in_memory(place):
            os.posix_fadvise(self._descriptor, place, size, os.POSIX_FADV_WILLNEED)

    def _is_in_memory(self, place: int) -> bool:
        """Whether the system has the file already, as the first places say: to ask for it again costs a third more."""
        if self._samples_left and hasattr(os, "RWF_NOWAIT"):
            self._samples_left -= 1
            try:
                os.preadv(self._descriptor, [bytearray(1)], place, os.RWF_NOWAIT)
            except OSError:  # EAGAIN: it would have to wait; or a file system that cannot tell
                self._samples_left, self._resident = 0, False
        return self._resident


class _Container:
    """What is left to read of one container."""

    __slots__ = ("end", "place", "targets")

    def __init__(self, place: int, end: int) -> None:
        self.place = place  # of the next entry
        self.end = end
        self.targets: set[CodeTarget] = set()


def unbuffered(stream: BinaryIO) -> BinaryIO:
    """The file below a buffered one: a buffer would read 8 KiB for every header of 48 bytes."""
    return cast("BinaryIO", getattr(stream, "raw", stream))


def read_gpu_code(stream: BinaryIO) -> GpuCode:
    """The GPU code of a library, without any where it has none; raises FatbinError."""
    file = unbuffered(stream)
    try:
        file.seek(0)
        return gpu_code_of(_opened(file), file)
    except OSError as error:
        raise FatbinNotRead(f"cannot be read: {error.strerror}") from error
    except NotRead as error:
        raise FatbinNotRead(str(error)) from error
    except ElfError as error:
        raise FatbinError(str(error)) from error


def _opened(file: BinaryIO) -> Elf | Pe:
    """Raises ElfError, FatbinError, NotRead, OSError."""
    if file.read(2) != b"MZ":
        return Elf(file)
    from doctor.binaries.pe import Pe, PeError  # late: only Windows has them

    try:
        return Pe(file)
    except PeError as error:
        raise FatbinError(str(error)) from error


def gpu_code_of(library: Elf | Pe, file: BinaryIO) -> GpuCode:
    """The same for a library whose headers are read already; raises FatbinError, ElfError."""
    reader = _Reader(file, library.size_bytes)
    try:
        if not isinstance(library, Elf):
            reader.walk_all((one.offset, one.size) for one in library.sections if one.name in SECTIONS)
        else:
            _walk_elf(reader, library)
        return reader.count()
    except OSError as error:
        raise FatbinNotRead(f"cannot be read: {error.strerror}") from error


def _walk_elf(reader: _Reader, library: Elf) -> None:
    sections = library.sections()
    if not sections:  # sstrip and some packers take the section headers away: the containers are still there
        reader.walk_all((one.offset, one.size) for one in library.segments())
        return
    wrappers = next((one for one in sections if one.name == _WRAPPERS), None)
    wrapped = reader.wrapped(library, wrappers.offset, wrappers.size) if wrappers else []
    reader.walk_all((one.offset, one.size) for one in sections if one.name in SECTIONS)
    reader.add_all(wrapped)


class _Reader:
    """Finds the containers first, then reads the entries of all of them side by side."""

    def __init__(self, file: BinaryIO, size_bytes: int) -> None:
        self._file = _File(file, size_bytes)
        self._containers: list[_Container] = []
        self._walked: list[tuple[int, int]] = []
        self._search_left = _SEARCHED_AT_MOST_BYTES
        self._damage = self._unread = ""

    def walk_all(self, stretches: Iterable[tuple[int, int]]) -> None:
        """Find every container in these stretches of the file: places and sizes."""
        for number, (place, size) in enumerate(stretches):
            if number >= _STRETCHES_AT_MOST:
                self._note_bound(f"it has more than {_STRETCHES_AT_MOST} sections of GPU code")
                return
            end = min(place + size, self._file.size_bytes)
            if end < place + size:
                self._note_damage(f"it ends after {self._file.size_bytes} bytes, within its GPU code")
            if place < end:
                self._walked.append((place, end))
                self._walk(place, end)

    def wrapped(self, library: Elf, place: int, size: int) -> list[int]:
        """Where the containers begin that wrappers point to; as far as the loader does not fill the addresses in."""
        if size > _WRAPPERS_AT_MOST_BYTES:
            self._note_bound(f"it has more than {_WRAPPERS_AT_MOST_BYTES // _WRAPPER.size} wrappers of GPU code")
        begins = set()
        for address in set(_addresses(self._file.read(place, min(size, _WRAPPERS_AT_MOST_BYTES)))):
            try:
                begins.add(library.offset_of(address))
            except ElfError:
                continue
        in_order = sorted(begin for begin in begins if begin < self._file.size_bytes)
        for begin in in_order:
            self._file.expect(begin, HEAD.size + _ENTRY.size)
        return in_order

    def add_all(self, begins: Iterable[int]) -> None:
        """Note the containers that begin at these places, where they lie outside of what was walked."""
        for begin in begins:
            if not any(low <= begin < high for low, high in self._walked):
                self._add(begin, self._file.size_bytes)

    def _walk(self, place: int, end: int) -> None:
        while place + HEAD.size <= end:
            place = self._add(place, end) or self._search(place + 1, end)

    def _add(self, place: int, end: int) -> int:
        """Note the container at a place; returns the place behind it, 0 where there is none."""
        head = self._file.read(place, HEAD.size)
        if len(head) < HEAD.size:
            return 0
        magic, version, header_size, size = HEAD.unpack(head)
        if magic != MAGIC or version != 1 or not HEAD.size <= header_size <= _HEADER_AT_MOST_BYTES:
            return 0
        if len(self._containers) >= _CONTAINERS_AT_MOST:
            self._note_bound(f"it has more than {_CONTAINERS_AT_MOST} containers of GPU code")
            return end
        behind: int = place + header_size + size
        if behind > end:
            self._note_damage(f"a container of {size} bytes at {place:#x} leaves its section")
            behind = end
        self._containers.append(_Container(place + header_size, behind))
        return (behind + 7) & ~7

    def _search(self, place: int, end: int) -> int:
        """The place of the next container's magic number, `end` for none."""
        size = _GAP_BYTES
        while place < end:
            if self._search_left <= 0:
                self._note_bound(f"no container in {_SEARCHED_AT_MOST_BYTES >> 20} MiB that were searched for one")
                return end
            block = self._file.read(place, min(size, end - place))
            self._search_left -= len(block) or _BLOCK_BYTES
            found = block.find(MAGIC)
            if found >= 0:
                return place + found
            size = min(8 * size, _BLOCK_BYTES)
            place += max(len(block) - len(MAGIC) + 1, 1)  # it may lie across two blocks
        return end

    def count(self) -> GpuCode:
        """Read the entries of the containers that were found: the first of each, the second of each, and so on."""
        kinds: Counter[tuple[int, int, int]] = Counter()
        targets: dict[tuple[int, int, int], CodeTarget | None] = {}
        left, live = _ENTRIES_AT_MOST, self._containers
        while live and left > 0:
            going_on = []
            for container in live[:left]:
                key = self._next(container)
                if key is None:
                    continue
                kinds[key] += 1
                if key not in targets:
                    targets[key] = _target(*key)
                target = targets[key]
                if target is not None:
                    container.targets.add(target)
                if container.place + _ENTRY.size <= container.end:
                    self._file.expect(container.place, _ENTRY.size)
                    going_on.append(container)
            left -= len(live)
            live = going_on
        if live:
            self._note_bound(f"it has more than {_ENTRIES_AT_MOST} pieces of GPU code")
        return self._summary(kinds, targets)

    def _next(self, container: _Container) -> tuple[int, int, int] | None:
        """Kind, architecture and flags of the container's next entry, and on to the one behind it; None at the end."""
        head = self._file.read(container.place, _ENTRY.size)
        if len(head) == _ENTRY.size:
            kind, _, header_size, size, architecture, flags = _ENTRY.unpack(head)
            behind = container.place + header_size + size
            if 0 < kind <= _KIND_AT_MOST and _ENTRY.size <= header_size and behind <= container.end:
                container.place = behind
                return (kind, architecture, flags & _SUFFIX_BITS) if kind in (_PTX, _SASS) else (kind, 0, 0)
        if container.place < container.end:
            self._note_damage(f"the entry at {container.place:#x} is damaged")
        return None

    def _summary(
        self, kinds: Counter[tuple[int, int, int]], targets: dict[tuple[int, int, int], CodeTarget | None]
    ) -> GpuCode:
        entries: Counter[CodeTarget] = Counter()
        others = 0
        for key, how_many in kinds.items():
            target = targets[key]
            if target is None:
                others += how_many
            else:
                entries[target] += how_many
        holding = Counter(target for container in self._containers for target in container.targets)
        pieces = (Piece(target, how_many, holding[target]) for target, how_many in entries.items())
        in_order = sorted(pieces, key=lambda one: (one.target.capability, one.target.kind != "sm", one.target.suffix))
        return GpuCode(tuple(in_order), others, self._damage, self._unread)

    def _note_damage(self, why: str) -> None:
        self._damage = self._damage or why

    def _note_bound(self, what: str) -> None:
        self._unread = self._unread or f"{what}: no more of it is read"


def _target(kind: int, architecture: int, flags: int) -> CodeTarget | None:
    if kind not in (_PTX, _SASS) or not 10 <= architecture < 1000:
        return None
    suffix = "a" if flags & _A_BIT else "f" if flags & _F_BIT else ""
    capability = ComputeCapability(*divmod(architecture, 10))
    return CodeTarget("sm" if kind == _SASS else "compute", capability, suffix)


def _addresses(wrappers: bytes) -> Iterator[int]:
    """The addresses of containers in a section of wrappers."""
    whole = len(wrappers) // _WRAPPER.size * _WRAPPER.size
    for magic, _, address, _ in _WRAPPER.iter_unpack(wrappers[:whole]):
        if magic == _WRAPPER_MAGIC and address:
            yield address
