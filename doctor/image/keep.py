"""What is kept of a file that streams by: a small one that probes read whole, of a library what its readers ask for.

A packed layer cannot be read here and there. Its libraries are gigabytes, of which the readers (`doctor.binaries`) ask
for some kilobytes, and where these lie stands at the end. So a library is laid down in a scratch file without its GPU
code and most of its machine code, the readers are asked while it lies there, and what they read is kept. What was not
kept cannot be read later: that is reported, and never taken for zeros.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import io
import itertools
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from doctor.binaries.elf import Elf
from doctor.binaries.fatbin import HEAD, MAGIC, SECTIONS, gpu_code_of
from doctor.image import SCRATCH_AT_MOST_BYTES
from doctor.image.disk import Disk, Scratch

_ELF, _PE = b"\x7fELF", b"MZ"
_PE_ENDS = (".dll", ".pyd", ".exe")
_WHOLE_AT_MOST_BYTES = 32 << 10  # of a file of any kind
_NAMED_AT_MOST_BYTES = 8 << 20  # of one that probes read: TensorFlow's RECORD has 2 MB, dpkg's status 5
_START_BYTES = 8 << 10  # of any other: whether it is a script, and which
_PASSED_OVER_BYTES = 512  # of one that nobody asks for
_BLOCK_BYTES = 1 << 20

_READ_NAMES = frozenset(("RECORD", "METADATA", "PKG-INFO", "status", "ld.so.cache", "ld.so.preload", "__init__.py",
                         "version.json", "variant.json", "kernel.json"))  # fmt: skip
_READ_ENDS = (".txt", ".pth", ".conf", ".cfg", ".toml", ".ini", ".sh", ".ko", ".ko.xz", ".ko.zst", ".ko.gz",
              ".list", ".md5sums", "rc", "profile", "version.py", "info.py", "config.py", ".egg-link",
              "_environment.py", "_ld_preload.py")  # fmt: skip
_READ_FOLDERS = ("/etc/", "/.singularity.d/")
_CONDA = "/conda-meta/"  # wherever its prefix lies
_HEADERS = ("cuda", "cudnn", "nv", "nccl", "NvInfer", "cublas")  # how the names of headers begin that tell a version
_HEADER_ENDS = (".h", ".hpp", ".cuh")
_PASSED_OVER = (".pyc", ".pyi", ".py", ".js", ".css", ".svg", ".png", ".html", ".c", ".cc", ".cpp", ".inl", ".mo",
                ".gz", ".map", ".cmake", ".md", ".rst", *_HEADER_ENDS)  # fmt: skip
# Libraries that tell their release, or what they were built for, among their constants.
_CONSTANTS_OF = ("libcudnn.so", "libnccl.so", "libnvinfer.so", "libtorch_python", "ptxas", "nvcc")
_CONSTANTS_OF_DLLS = tuple(one.removeprefix("lib").removesuffix(".so") for one in _CONSTANTS_OF)
_SAY_RELEASE = ("/libc.so.6", "/libc.so")  # the C library's own words, which are searched whole: 2 MB
_CONSTANTS_AT_MOST_BYTES = 16 << 20
_SYMBOLS = frozenset((".gnu.hash", ".hash", ".dynsym", ".dynstr", ".gnu.version_r"))
_SYMBOLS_AT_MOST_BYTES = 4 << 20  # of a library; where there are more, nobody asks for one of them

_ALIGNED_BYTES = 4  # containers begin at multiples of it
_NEAR_BYTES = 64  # most lie one behind the other
_ENTRY = struct.Struct("<HHIQ")  # the beginning of an entry of GPU code: kind, version, size of its header, of the code
_LAID_BEFORE_CODE_BYTES = 120 << 20  # of a segment with code: symbols, names and numbers lie first (cuDNN 9.26: 98 MiB)
_PROGRAM_HEADER = struct.Struct("<IIQ16xQ16x")  # kind, flags, place, and size in the file
_PT_LOAD, _PT_DYNAMIC = 1, 2
_PF_X, _PF_W = 1, 2
_ALWAYS_BYTES = 32 << 20  # the end of a file, and a segment that is written to: what readers begin with lies there
_NAMES_BEFORE_BYTES, _SECTIONS_AT_MOST_BYTES = 64 << 10, 4 << 20  # around the headers of sections
_IN_MEMORY_BYTES = 32 << 20  # of a library that is not laid down: most have less, and no file is written for them
_RESERVED_BYTES = 128 << 20  # of the scratch file, for these: 267 MiB of cuFFT are data that nobody asks for


ZEROS = -1


class ByteRange(NamedTuple):
    """Bytes of a file, and where they are kept."""

    place: int
    size: int
    kept_at: int  # ZEROS for a hole, which lies nowhere


class Pieces(io.RawIOBase):
    """A file of which some stretches are there; reading elsewhere raises OSError."""

    def __init__(self, size_bytes: int, stretches: tuple[ByteRange, ...], source: Disk) -> None:
        super().__init__()
        self.size_bytes = size_bytes
        self._stretches = stretches  # in order
        self._places = [one.place for one in stretches]
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """As of any file."""
        self._at = max(0, offset + (0, self._at, self.size_bytes)[whence])
        return self._at

    def tell(self) -> int:
        """As of any file."""
        return self._at

    def readinto(self, into: Any) -> int:
        """As of any file; raises OSError for what was not kept."""
        wanted = min(len(into), self.size_bytes - self._at)
        if wanted <= 0:
            return 0
        content = self.stretch(self._at, wanted)
        into[: len(content)] = content
        self._at += len(content)
        return len(content)

    def stretch(self, place: int, size: int) -> bytes:
        """These bytes; raises OSError."""
        found = b""
        while len(found) < size:
            at = place + len(found)
            number = bisect_right(self._places, at) - 1
            one = self._stretches[number] if number >= 0 else None
            if one is None or at >= one.place + one.size:
                raise OSError(errno.EIO, "these bytes of a packed layer were not kept")
            within = min(size - len(found), one.place + one.size - at)
            piece = bytes(within) if one.kept_at == ZEROS else self._source.read(one.kept_at + at - one.place, within)
            if len(piece) != within:
                raise OSError(errno.EIO, "the image became shorter while it was read")
            found += piece
        return found


class _Held(Disk):
    """A file that is in memory, in pieces."""

    def __init__(self, pieces: list[memoryview]) -> None:
        self._pieces = pieces
        self._places = [0, *itertools.accumulate(map(len, pieces))]
        self.size_bytes = self._places.pop()

    def read(self, place: int, size: int) -> bytes:
        """See Disk."""
        number = bisect_right(self._places, place) - 1
        at = place - self._places[number]
        found = bytes(self._pieces[number][at : at + size])
        while len(found) < size and (number := number + 1) < len(self._pieces):
            found += self._pieces[number][: size - len(found)]
        return found


class _Recorder(Pieces):
    """The same, which notes what is asked for."""

    def __init__(self, size_bytes: int, stretches: tuple[ByteRange, ...], source: Disk) -> None:
        super().__init__(size_bytes, stretches, source)
        self.asked: list[tuple[int, int]] = []

    def stretch(self, place: int, size: int) -> bytes:
        """See Pieces."""
        content = super().stretch(place, size)
        self.asked.append((place, place + size))
        return content


class PartialExtractor:
    """Decides what is kept of each file, and keeps it."""

    def __init__(self, spool: Scratch) -> None:
        self._spool = spool
        self._scratch = Scratch(SCRATCH_AT_MOST_BYTES)

    def keep(self, name: str, size: int, pieces: Iterator[memoryview]) -> tuple[ByteRange, ...]:
        """Read a file to its end; what is kept of it, nothing where there was no room."""
        piece = next(pieces, memoryview(b""))
        if len(piece) == size:
            return self._of_whole(name, piece)
        walk = _Walk(size, itertools.chain((piece,), pieces))
        head = bytes(walk.ensure(_START_BYTES)[:_START_BYTES])
        if not _is_library(name, head):
            content = walk.ensure(wanted := _bytes_wanted(name, size))[:wanted]
        elif size <= _IN_MEMORY_BYTES:
            return self._of_held(name, size, walk.rest())
        else:
            return self._of_library(name, head, walk)
        stretches = self._put(content)
        walk.skip(size)
        return stretches

    def _of_whole(self, name: str, content: memoryview) -> tuple[ByteRange, ...]:
        """Of a file that is in memory, in one piece."""
        size = len(content)
        if _is_library(name, bytes(content[:4])):
            return self._of_held(name, size, [content])
        return self._put(content[: _bytes_wanted(name, size)])

    def _of_held(self, name: str, size: int, pieces: list[memoryview]) -> tuple[ByteRange, ...]:
        """Of a library that is in memory."""
        if size <= _WHOLE_AT_MOST_BYTES or name.endswith(_SAY_RELEASE):
            return self._put(memoryview(b"".join(pieces)))
        held = _Held(pieces)
        return self._answers(name, held.read(0, _START_BYTES), _Recorder(size, (ByteRange(0, size, 0),), held))

    def _put(self, content: memoryview) -> tuple[ByteRange, ...]:
        kept_at = self._spool.put(content)
        return () if kept_at is None or not content else (ByteRange(0, len(content), kept_at),)

    def _of_library(self, name: str, head: bytes, walk: _Walk) -> tuple[ByteRange, ...]:
        laid = _lay_down(walk, self._scratch, _segments(head, walk.size))
        found = self._answers(name, head, _Recorder(walk.size, tuple(laid), self._scratch))
        self._scratch.clear()
        return found

    def _answers(self, name: str, head: bytes, recorder: _Recorder) -> tuple[ByteRange, ...]:
        """What the readers of libraries ask for."""
        _ask_readers(name, recorder)
        kept_at = self._spool.put(head)  # of which GPU code may not have been laid down
        found = [] if kept_at is None else [ByteRange(0, len(head), kept_at)]
        behind = [(max(low, len(head)), high) for low, high in recorder.asked if high > len(head)]
        for begin, end in _merged(behind):
            kept_at = self._spool.put(recorder.stretch(begin, end - begin))
            if kept_at is not None:
                found.append(ByteRange(begin, end - begin, kept_at))
        return tuple(found)


def _is_library(name: str, start: bytes) -> bool:
    return start.startswith(_ELF) or (start.startswith(_PE) and name.lower().endswith(_PE_ENDS))


def _bytes_wanted(name: str, size: int) -> int:
    """How much of a file that is no library is kept."""
    base = name.rpartition("/")[2]
    is_passed_over = base.endswith(_PASSED_OVER)
    if size <= (_PASSED_OVER_BYTES if is_passed_over else _WHOLE_AT_MOST_BYTES):
        return size
    path = f"/{name}"
    if base in _READ_NAMES or base.endswith(_READ_ENDS) or path.startswith(_READ_FOLDERS) or _CONDA in path:
        return size if size <= _NAMED_AT_MOST_BYTES else _START_BYTES
    if base.endswith(_HEADER_ENDS) and base.startswith(_HEADERS):
        return min(size, _NAMED_AT_MOST_BYTES)
    return _PASSED_OVER_BYTES if is_passed_over else _START_BYTES


class _Walk:
    """The pieces of one file, in order."""

    def __init__(self, size: int, pieces: Iterator[memoryview]) -> None:
        self.size = size
        self.place = 0
        self._pieces = pieces
        self._block = memoryview(b"")

    def ensure(self, size: int) -> memoryview:
        """At least so many of the next bytes, fewer only at the end of the file."""
        if len(self._block) < size:
            found, there = [self._block] if self._block else [], len(self._block)
            while there < size and (piece := next(self._pieces, None)) is not None:
                found.append(piece)
                there += len(piece)
            self._block = found[0] if len(found) == 1 else memoryview(b"".join(found))
        return self._block

    def rest(self) -> list[memoryview]:
        """All that comes."""
        return [self._block, *self._pieces]

    def consume(self, size: int) -> memoryview:
        """The next bytes, which are there."""
        found, self._block = self._block[:size], self._block[size:]
        self.place += len(found)
        return found

    def skip(self, size: int) -> None:
        """Go on without them."""
        while size > 0 and len(self.ensure(1)):
            size -= len(self.consume(size))


class _Segments(NamedTuple):
    """What the headers at the start of an ELF file tell of it."""

    code: list[tuple[int, int]]  # machine code, which no reader asks for
    bare: list[tuple[int, int]]  # where no container of GPU code lies, either
    needed: list[tuple[int, int]]  # what readers ask for first, wherever in the file it lies


def _segments(head: bytes, size: int) -> _Segments:
    """Nothing but its end is known of what is no ELF file of 64 bits, or has its program headers elsewhere."""
    needed = [(size - _ALWAYS_BYTES, size)]
    if head.startswith(_PE):
        return _segments_of_pe(head, needed)
    if head[:4] != _ELF or head[4:6] != b"\x02\x01" or len(head) < 64:
        return _Segments([], [], needed)
    place, sections = struct.unpack_from("<QQ", head, 32)
    step, how_many = struct.unpack_from("<HH", head, 54)
    if step != _PROGRAM_HEADER.size or place + step * how_many > len(head):
        return _Segments([], [], needed)
    needed.append((sections - _NAMES_BEFORE_BYTES, sections + _SECTIONS_AT_MOST_BYTES))
    code, bare, loaded = [], [], 0
    for number in range(how_many):
        kind, flags, offset, length = _PROGRAM_HEADER.unpack_from(head, place + number * step)
        end = offset + length
        if kind == _PT_DYNAMIC or (kind == _PT_LOAD and flags & _PF_W and length <= _ALWAYS_BYTES):
            needed.append((offset, end))
        if kind == _PT_LOAD:
            loaded = max(loaded, end)
        if kind == _PT_LOAD and flags & _PF_X:
            code.append((offset or _LAID_BEFORE_CODE_BYTES, end))  # at 0 lies all that is only read, too
            bare += [(offset, end)] if offset else []
    return _Segments(code, [*bare, (loaded, size)] if loaded else bare, needed)


def _segments_of_pe(head: bytes, needed: list[tuple[int, int]]) -> _Segments:
    """By the names of its sections, as far as its headers lie at its start."""
    from doctor.binaries.pe import Pe, PeError  # late: few images have DLLs

    try:
        sections = Pe(io.BytesIO(head)).sections
    except PeError:
        return _Segments([], [], needed)
    code = [(one.offset, one.offset + one.size) for one in sections if one.name == ".text"]
    bare = [(one.offset, one.offset + one.size) for one in sections if one.name not in SECTIONS]
    return _Segments(code, bare, needed)


def _lay_down(walk: _Walk, scratch: Scratch, segments: _Segments) -> list[ByteRange]:
    """Write a library to the scratch file, without its machine code and what its containers of GPU code hold."""
    laid = _Laid(scratch, segments)
    while len(walk.ensure(1)):
        block = walk.ensure(HEAD.size)
        if bare_until := max((end for begin, end in segments.bare if begin <= walk.place < end), default=0):
            laid.put(walk.place, walk.consume(min(len(block), bare_until - walk.place)))
            continue
        found = _searched(block)
        if found < 0:
            rest = walk.place + len(block) < walk.size
            aligned = len(block) - (walk.place + len(block)) % _ALIGNED_BYTES if rest else len(block)
            laid.put(walk.place, walk.consume(aligned))
            continue
        laid.put(walk.place, walk.consume(found))
        if not _lay_container(walk, laid):
            laid.put(walk.place, walk.consume(min(_ALIGNED_BYTES, len(walk.ensure(_ALIGNED_BYTES)))))
    return laid.stretches


@functools.cache
def _memmem() -> Any:
    """The C library's, None where it has none: it takes two thirds of the time, and nobody waits for Python's lock."""
    try:
        found = ctypes.CDLL(None).memmem  # GNU's, musl's, and that of the BSDs and macOS
    except (OSError, TypeError, AttributeError):  # of Windows
        return None
    found.restype, found.argtypes = ctypes.c_void_p, (ctypes.c_char_p, ctypes.c_size_t) * 2
    return found


def _searched(block: memoryview) -> int:
    """Where the first container of GPU code may begin, -1 for nowhere."""
    near = bytes(block[:_NEAR_BYTES]).find(MAGIC)
    if near >= 0 or _memmem() is None:
        return near if near >= 0 else bytes(block).find(MAGIC)
    around = block.obj  # a view does not tell its address, and mostly there is nothing all around it
    return -1 if isinstance(around, bytes) and _place_in(around) < 0 else _place_in(bytes(block))


def _place_in(content: bytes) -> int:
    """Where the first container may begin, by the C library; -1 for nowhere."""
    found = _memmem()(content, len(content), MAGIC, len(MAGIC))
    begin: Any = ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value
    return found - begin if found else -1


def _lay_container(walk: _Walk, laid: _Laid) -> bool:
    """The headers of one container of GPU code, without what lies between; whether it is one."""
    block = walk.ensure(HEAD.size)
    if len(block) < HEAD.size or walk.place % _ALIGNED_BYTES:
        return False
    magic, version, header, size = HEAD.unpack(block[: HEAD.size])
    if magic != MAGIC or version != 1 or header != HEAD.size or not 0 < size <= walk.size - walk.place - header:
        return False
    end = walk.place + header + size
    laid.always(walk.place, walk.consume(header))
    while walk.place + _ENTRY.size <= end:
        _, _, entry, content = _ENTRY.unpack(walk.ensure(_ENTRY.size)[: _ENTRY.size])
        if not _ENTRY.size <= entry <= 4096 or walk.place + entry + content > end:
            break
        walk.ensure(entry)
        laid.always(walk.place, walk.consume(entry))
        walk.skip(content)
    if walk.place < end:  # damaged, or more of its kind: what it says is there to be told
        walk.ensure(min(4096, end - walk.place))
        laid.always(walk.place, walk.consume(min(4096, end - walk.place)))
        walk.skip(end - walk.place)
    return True


class _Laid:
    """What is in the scratch file."""

    def __init__(self, scratch: Scratch, segments: _Segments) -> None:
        self.stretches: list[ByteRange] = []
        self._scratch = scratch
        self._segments = segments

    def put(self, place: int, content: memoryview) -> None:
        """These bytes of the file, as far as they are no machine code and leave room for what is needed more."""
        end = place + len(content)
        if any(low <= place and end <= high for low, high in self._segments.code):
            return
        has_room = self._scratch.room_bytes - len(content) >= _RESERVED_BYTES
        if has_room or any(low < end and place < high for low, high in self._segments.needed):
            self.always(place, content)

    def always(self, place: int, content: memoryview) -> None:
        """These bytes of the file, if there is room."""
        kept_at = self._scratch.put(content) if len(content) else None
        if kept_at is None:
            return
        last = self.stretches[-1] if self.stretches else None
        if last and last.place + last.size == place and last.kept_at + last.size == kept_at:
            self.stretches[-1] = last._replace(size=last.size + len(content))
        else:
            self.stretches.append(ByteRange(place, len(content), kept_at))


def _ask_readers(name: str, stream: _Recorder) -> None:
    """Read what the readers of libraries read, so that it is known; a damaged library is for the probes to tell."""
    base = name.rpartition("/")[2]
    try:
        if bytes(stream.stretch(0, 2)) == _PE:
            _ask_pe(stream, base)
            return
        library = Elf(cast("BinaryIO", stream))
    except (GpudoctorError, OSError):
        return
    questions = [_identity, _symbols, _gpu_code]
    questions += [_exported] if base.startswith("libcudnn") else []
    questions += [_constants] if base.startswith(_CONSTANTS_OF) else []
    for question in questions:
        try:
            question(library, stream, base)
        except (GpudoctorError, OSError):
            continue


def _identity(library: Elf, _: _Recorder, __: str) -> object:
    texts = (library.soname, library.needed, library.rpath_text, library.runpath_text)
    return texts, library.is_truncated, library.needed_versions


def _symbols(library: Elf, stream: _Recorder, _: str) -> None:
    tables = [one for one in library.sections() if one.name in _SYMBOLS]
    if sum(one.size for one in tables) <= _SYMBOLS_AT_MOST_BYTES:
        for one in tables:
            stream.stretch(one.offset, one.size)
    for one in library.sections():  # exported numbers lie there
        if one.name in {".rodata", ".data"} and one.size <= _WHOLE_AT_MOST_BYTES:
            stream.stretch(one.offset, one.size)


def _gpu_code(library: Elf, stream: _Recorder, _: str) -> None:
    gpu_code_of(library, cast("BinaryIO", stream))


def _exported(library: Elf, _: _Recorder, base: str) -> None:
    """The releases that a part of cuDNN exports, `cudnn_ops_infer_version`."""
    stem = base[len("lib") :].partition(".so")[0]
    for symbol in (f"{stem}_version", f"{stem}_infer_version"):
        library.value(symbol)


def _constants(library: Elf, stream: _Recorder, _: str) -> None:
    for one in library.sections():
        if one.name == ".rodata":
            stream.stretch(one.offset, min(one.size, _CONSTANTS_AT_MOST_BYTES))


def _ask_pe(stream: _Recorder, base: str) -> None:
    from doctor.binaries.pe import Pe  # late: few images have DLLs

    library = Pe(cast("BinaryIO", stream))
    questions: list[Callable[[], object]] = [
        lambda: (library.imports, library.delayed_imports),
        lambda: library.file_version,
        lambda: gpu_code_of(library, cast("BinaryIO", stream)),
    ]
    if base.lower().startswith(_CONSTANTS_OF_DLLS):
        places = [one for one in library.sections if one.size <= _SYMBOLS_AT_MOST_BYTES and one.name != ".text"]
        questions += [functools.partial(stream.stretch, one.offset, one.size) for one in places]
    for question in questions:
        with contextlib.suppress(GpudoctorError, OSError):
            question()


def _merged(asked: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The stretches in order, without overlaps."""
    begin = end = -1
    for low, high in sorted(asked):
        if begin >= 0 and low <= end:
            end = max(end, high)
            continue
        if begin >= 0:
            yield begin, end
        begin, end = low, high
    if begin >= 0:
        yield begin, end
