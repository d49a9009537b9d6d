"""What an ELF library says of itself: identity, dependencies, search paths, exported values.

It is read in pieces, never whole, and nothing in it is believed before it is bounded: a damaged or hostile file raises
ElfError, one that goes beyond a bound of ours ElfNotRead. Sources: System V ABI, "Object Files" and "Dynamic Linking";
for DT_GNU_HASH, which the ABI does not describe, glibc's `elf/dl-lookup.c`.
"""

import functools
import struct
from collections.abc import Iterator
from typing import BinaryIO, Literal

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from doctor.binaries import NotRead, Pieces

_MACHINES = {
    3: "i386",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 0, 1, 4, 5, 6, 10
_DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_GNU_HASH = 14, 15, 29, 0x6FFFFEF5
_DT_FLAGS_1, _DF_1_NODEFLIB = 0x6FFFFFFB, 0x800
_DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
_DT_VERDEF = 0x6FFFFFFC
_DEFINED_VERSION_FORMATS = "HHHHIII", "II"  # Elfxx_Verdef and Elfxx_Verdaux, the same in both classes
_NEEDED_VERSION_FORMATS = "HHIII", "IHHII"  # Elfxx_Verneed and Elfxx_Vernaux, the same in both classes

_SHT_NOBITS = 8
_STB_GLOBAL = 1  # a weak symbol may be missing

# Formats of the file header behind its 16 bytes of identity, program header, dynamic entry, symbol, section header.
_FORMATS_64 = ("HHIQQQIHHHHHH", "IIQQQQQQ", "qQ", "IBBHQQ", "IIQQQQIIQQ")
_FORMATS_32 = ("HHIIIIIHHHHHH", "8I", "iI", "IIIBBH", "10I")

# Bounds, each with the most that was seen in wheels (torch 2.9.1, TensorFlow 2.20 and 2.21, JAX 0.4.35, CuPy 14, ONNX
# Runtime, and NVIDIA's for CUDA 11 to 13): a hundred times as much is no library, and costs memory.
_SEGMENTS_AT_MOST = 2_000  # 15
_SECTIONS_AT_MOST = 10_000  # 50; what is built with -ffunction-sections is merged by the linker
_DYNAMIC_AT_MOST_BYTES = 256 << 10  # 816
_STRINGS_AT_MOST_BYTES = 4 << 20  # all names of the dynamic section together: 22 KiB, nearly all of it one RUNPATH
_NAME_AT_MOST_BYTES = 1 << 20  # 21,521: the RUNPATH of TensorFlow 2.20, with 700 directories; C++ symbols have 4 KiB
_NEEDED_VERSIONS_AT_MOST = 4096  # 55
_SECTION_NAME_AT_MOST_BYTES = 256  # 30
_LOADER_AT_MOST_BYTES = 4096  # PATH_MAX; /lib64/ld-linux-x86-64.so.2 has 28
_NAMES_AT_MOST_BYTES = 16 << 20  # all names of a file: libtorch_cuda's 10 MiB
_CHAIN_AT_MOST = 4096  # symbols in one hash bucket: 17
_ASKED_AT_MOST = 100_000  # symbols of other libraries: libtorch_python's 6,500
_TEXT_AT_MOST_BYTES = 256  # of what `find_text` gives: its callers look for versions
_NAME_BLOCK_BYTES = 512  # read at first for a name: most are short
_BLOCK_BYTES = 1 << 20


class ElfError(GpudoctorError):
    """The file is not an ELF library, or it is damaged; the message says how."""


class ElfNotRead(ElfError, NotRead):
    """It goes beyond a bound of ours, or the system did not give its bytes: whether it is damaged is not known."""


class _Layout(NamedTuple):
    """The formats of one class and byte order."""

    order: Literal["little", "big"]
    bits: int
    header: struct.Struct
    segment: struct.Struct
    entry: struct.Struct
    symbol: struct.Struct
    section: struct.Struct
    word: struct.Struct


def _layout(bits: int, order: Literal["little", "big"]) -> _Layout:
    sign = "<" if order == "little" else ">"
    formats = _FORMATS_64 if bits == 64 else _FORMATS_32
    header, segment, entry, symbol, section = (struct.Struct(sign + one) for one in formats)
    return _Layout(
        order=order,
        bits=bits,
        header=header,
        segment=segment,
        entry=entry,
        symbol=symbol,
        section=section,
        word=struct.Struct(sign + "I"),
    )


class ByteRange(NamedTuple):
    """A named stretch of the file: a section, or a loaded segment, whose name is ""."""

    name: str
    offset: int
    size: int


class _Segment(NamedTuple):
    """A program header: where a stretch of the file goes in memory."""

    kind: int
    offset: int
    address: int
    size: int  # in the file


class _Symbol(NamedTuple):
    """An entry of the dynamic symbol table."""

    is_defined: bool
    binding: int
    name: int  # its place in the string table
    address: int
    size: int


class Elf(Pieces):
    """One ELF file. `stream` must stay open as long as questions are asked."""

    damaged, not_read = ElfError, ElfNotRead

    def __init__(self, stream: BinaryIO) -> None:
        """Read the headers; raises ElfError."""
        super().__init__(stream)
        ident = self._read(0, 16)
        if ident[:4] != b"\x7fELF":
            raise ElfError("not an ELF file")
        if ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise ElfError("the class or byte order of this ELF file is unknown")
        self.bits = 32 * ident[4]
        self._layout = _layout(self.bits, "little" if ident[5] == 1 else "big")
        fields = self._unpack(self._layout.header, 16)
        self.machine = self._machine_name(fields[1])
        self._sections = (fields[5], *fields[10:13])
        self._segments = self._read_segments(fields[4], fields[8], fields[9])
        self._dynamic = self._read_dynamic()
        self._gnu: tuple[int, ...] | None = None

    @property
    def is_truncated(self) -> bool:
        """Whether the headers speak of bytes beyond the end of the file."""
        place, entry_size, how_many, _ = self._sections  # mostly the last thing in a file
        return (
            max([place + entry_size * how_many, *(one.offset + one.size for one in self._segments)]) > self.size_bytes
        )

    @property
    def soname(self) -> str:
        """DT_SONAME, "" for none; raises ElfError."""
        return next(self._names(_DT_SONAME), "")

    @property
    def needed(self) -> tuple[str, ...]:
        """DT_NEEDED, in order; raises ElfError."""
        return tuple(self._names(_DT_NEEDED))

    @property
    def interpreter(self) -> str:
        """PT_INTERP, the loader that the kernel starts with a program; "" for none. Raises ElfError."""
        place = next((one for one in self._segments if one.kind == _PT_INTERP), None)
        if place is None:
            return ""
        if place.size > _LOADER_AT_MOST_BYTES:
            raise ElfError(f"the path of its loader has {place.size} bytes")
        return self._read(place.offset, place.size).partition(b"\0")[0].decode("utf-8", "replace")

    @property
    def needed_versions(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a library and a symbol version asked of it, ("libc.so.6", "GLIBC_2.17"); raises ElfError.

        Source: Linux Standard Base Core Specification, "Symbol Versioning" (DT_VERNEED).
        """
        if _DT_VERNEED not in self._dynamic:
            return ()
        sign = "<" if self._layout.order == "little" else ">"
        of_library, of_version = (struct.Struct(sign + one) for one in _NEEDED_VERSION_FORMATS)
        found: list[tuple[str, str]] = []
        for at, (_, _, name, first, _) in self._chain(self._tag(_DT_VERNEED), of_library):
            library = self._string(name).decode("utf-8", "replace")
            for _, (_, _, _, version, _) in self._chain(at + first, of_version):
                found.append((library, self._string(version).decode("utf-8", "replace")))
                if len(found) > _NEEDED_VERSIONS_AT_MOST:
                    raise ElfNotRead("too many symbol versions")
        return tuple(found)

    @property
    def defined_versions(self) -> tuple[str, ...]:
        """Return the symbol versions that the file defines, its own name first; () for none. Raises ElfError.

        Source: Linux Standard Base Core Specification, "Symbol Versioning" (DT_VERDEF).
        """
        if _DT_VERDEF not in self._dynamic:
            return ()
        sign = "<" if self._layout.order == "little" else ">"
        of_version, of_name = (struct.Struct(sign + one) for one in _DEFINED_VERSION_FORMATS)
        found = []
        for at, (*_, first, _) in self._chain(self._tag(_DT_VERDEF), of_version):
            name, _ = of_name.unpack(self._at_address(at + first, of_name.size))  # its parents follow
            found.append(self._string(name).decode("utf-8", "replace"))
        return tuple(found)

    def _chain(self, address: int, layout: struct.Struct) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Address and fields of linked entries, whose last field leads to the next one, 0 ends it."""
        for _ in range(_NEEDED_VERSIONS_AT_MOST):
            fields = layout.unpack(self._at_address(address, layout.size))
            yield address, fields
            if not fields[-1]:
                return
            address += fields[-1]
        raise ElfError("its symbol versions do not end")

    @property
    def rpath(self) -> tuple[str, ...]:
        """DT_RPATH, which the loader ignores where there is a DT_RUNPATH; raises ElfError."""
        return _split_path(next(self._names(_DT_RPATH), ""))

    @property
    def rpath_text(self) -> str | None:
        """DT_RPATH as it is written, None for none: an empty element is the current directory; raises ElfError."""
        return next(self._names(_DT_RPATH), None)

    @property
    def runpath_text(self) -> str | None:
        """DT_RUNPATH as it is written, None for none: an empty one switches DT_RPATH off all the same."""
        return next(self._names(_DT_RUNPATH), None)

    @property
    def skips_default_directories(self) -> bool:
        """DF_1_NODEFLIB: linked with -z nodefaultlib."""
        return any(value & _DF_1_NODEFLIB for value in self._dynamic.get(_DT_FLAGS_1, ()))

    @property
    def runpath(self) -> tuple[str, ...]:
        """DT_RUNPATH; raises ElfError."""
        return _split_path(next(self._names(_DT_RUNPATH), ""))

    def names(self, prefix: str) -> tuple[str, ...]:
        """The dynamic string table's texts that begin so and are identifiers: its symbols' names; raises ElfError."""
        size = self._tag(_DT_STRSZ)
        if size > _NAMES_AT_MOST_BYTES:
            raise ElfNotRead("its string table is too long")
        texts = self._at_address(self._tag(_DT_STRTAB), size).split(b"\0")
        found = {text.decode() for text in texts if text.startswith(prefix.encode()) and text.isascii()}
        return tuple(sorted(one for one in found if one.isidentifier()))

    def value(self, name: str) -> int | None:
        """The number that a defined symbol names, None where the file defines no such; raises ElfError."""
        symbol = self._symbol(name.encode())
        if symbol is None:
            return None
        if symbol.size not in (1, 2, 4, 8):
            raise ElfError(f"{name} is not a number ({symbol.size} bytes)")
        content = self._at_address(symbol.address, symbol.size)
        return int.from_bytes(content, self._layout.order)

    def defines(self, name: str) -> bool:
        """Whether others find a symbol of that name in it; raises ElfError."""
        return self._symbol(name.encode()) is not None

    def asked(self) -> Iterator[str]:
        """The symbols that must be found in other libraries, or it is refused; raises ElfError.

        The linker puts what a file does not define before what is hashed (DT_GNU_HASH: `symndx`; glibc, as above).
        """
        layout = self._layout.symbol
        table = self._at_address(self._tag(_DT_SYMTAB), self._first_defined() * layout.size)
        for symbol in map(self._symbol_of, layout.iter_unpack(table)):
            if not symbol.is_defined and symbol.name and symbol.binding == _STB_GLOBAL:
                yield self._string(symbol.name).decode("utf-8", "replace")

    def _first_defined(self) -> int:
        """The number at which the symbols begin that the hash table knows, or where they end."""
        is_gnu = _DT_GNU_HASH in self._dynamic
        number = self._gnu_header()[1] if is_gnu else self._word_at(self._tag(_DT_HASH) + 4)
        if number > _ASKED_AT_MOST:
            raise ElfNotRead(f"more than {_ASKED_AT_MOST} symbols that it does not define")
        return number

    def find_text(self, section: str, prefix: bytes, limit_bytes: int) -> str:
        """The first text in a section that starts with `prefix`, "" for none; raises ElfError.

        Reads at most `limit_bytes` of the section.
        """
        offset, size = self._section(section)
        end = offset + min(size, limit_bytes)
        while offset < end:
            block = self._read(offset, min(_BLOCK_BYTES, end - offset))
            place = block.find(prefix)
            if place >= 0:
                text = self._read(offset + place, min(_TEXT_AT_MOST_BYTES, self.size_bytes - offset - place))
                return text.partition(b"\0")[0].decode("utf-8", "replace")
            offset += max(len(block) - len(prefix) + 1, 1)  # it may lie across two blocks
        return ""

    def sections(self) -> tuple[ByteRange, ...]:
        """The sections that have bytes in the file, none where it has no section headers; raises ElfError."""
        place, entry_size, how_many, names = self._sections
        if not how_many:
            return ()
        layout = self._layout.section
        if how_many > _SECTIONS_AT_MOST:
            raise ElfNotRead(f"{how_many} section headers, of which {_SECTIONS_AT_MOST} are read")
        if entry_size != layout.size or names >= how_many:
            raise ElfError(f"{how_many} section headers of {entry_size} bytes")
        table = list(layout.iter_unpack(self._read(place, how_many * layout.size)))
        texts = self._read(table[names][4], min(table[names][5], _STRINGS_AT_MOST_BYTES))
        return tuple(
            ByteRange(_text_at(texts, fields[0]), fields[4], fields[5]) for fields in table if fields[1] != _SHT_NOBITS
        )

    def segments(self) -> tuple[ByteRange, ...]:
        """The stretches of the file that are loaded into memory."""
        return tuple(ByteRange("", one.offset, one.size) for one in self._segments if one.kind == _PT_LOAD)

    def offset_of(self, address: int) -> int:
        """Where an address is in the file; raises ElfError."""
        return self._offset_of(address)[0]

    def _section(self, name: str) -> tuple[int, int]:
        """Where a section is in the file, and its size; (0, 0) for none."""
        return next(((one.offset, one.size) for one in self.sections() if one.name == name), (0, 0))

    def _unpack(self, layout: struct.Struct, offset: int) -> tuple[int, ...]:
        return layout.unpack(self._read(offset, layout.size))

    def _machine_name(self, number: int) -> str:
        name = _MACHINES.get(number, f"ELF machine {number}")
        if name == "x86_64" and self.bits == 32:
            return "x32"  # the loader of x86_64 passes it over, as one of another class
        return "ppc64le" if name == "ppc64" and self._layout.order == "little" else name

    def _read_segments(self, offset: int, entry_size: int, how_many: int) -> tuple[_Segment, ...]:
        layout = self._layout.segment
        if how_many > _SEGMENTS_AT_MOST:
            raise ElfNotRead(f"{how_many} program headers, of which {_SEGMENTS_AT_MOST} are read")
        if how_many and entry_size != layout.size:
            raise ElfError(f"{how_many} program headers of {entry_size} bytes")
        table = self._read(offset, how_many * layout.size) if how_many else b""
        return tuple(map(self._segment, layout.iter_unpack(table)))

    def _segment(self, fields: tuple[int, ...]) -> _Segment:
        if self.bits == 64:
            return _Segment(fields[0], fields[2], fields[3], fields[5])
        return _Segment(fields[0], fields[1], fields[2], fields[4])

    def _read_dynamic(self) -> dict[int, list[int]]:
        """The dynamic section: values by tag; empty for a static file."""
        place = next((one for one in self._segments if one.kind == _PT_DYNAMIC), None)
        if place is None:
            return {}
        layout = self._layout.entry
        size = min(place.size, _DYNAMIC_AT_MOST_BYTES) // layout.size * layout.size
        found: dict[int, list[int]] = {}
        for tag, value in layout.iter_unpack(self._read(place.offset, size)):
            if tag == _DT_NULL:
                return found
            found.setdefault(tag, []).append(value)
        if place.size > _DYNAMIC_AT_MOST_BYTES:
            raise ElfNotRead(f"its dynamic section has more than {_DYNAMIC_AT_MOST_BYTES >> 10} KiB")
        return found

    def _offset_of(self, address: int) -> tuple[int, int]:
        """Where an address is in the file, and how many bytes of its segment follow; raises ElfError."""
        for one in self._segments:
            if one.kind == _PT_LOAD and one.address <= address < one.address + one.size:
                return one.offset + address - one.address, one.address + one.size - address
        raise ElfError(f"address {address:#x} is in no segment of the file")

    def _at_address(self, address: int, size: int) -> bytes:
        offset, left = self._offset_of(address)
        if size > left:
            raise ElfError(f"{size} bytes at {address:#x} leave their segment")
        return self._read(offset, size)

    def _tag(self, tag: int) -> int:
        values = self._dynamic.get(tag)
        if not values:
            raise ElfError(f"its dynamic section has no entry {tag:#x}")
        return values[0]

    def _names(self, tag: int) -> Iterator[str]:
        """The texts that entries of the dynamic section name."""
        spent = 0
        for position in self._dynamic.get(tag, ()):
            name = self._string(position)
            spent += len(name)
            if spent > _STRINGS_AT_MOST_BYTES:
                raise ElfNotRead("too many names in its dynamic section")
            yield name.decode("utf-8", "replace")

    def _string(self, position: int) -> bytes:
        """The text at a place in the dynamic string table."""
        table_size = self._tag(_DT_STRSZ)
        if position >= table_size:
            raise ElfError("a name lies outside its string table")
        offset, left = self._offset_of(self._tag(_DT_STRTAB) + position)
        there = min(table_size - position, left, self.size_bytes - offset)
        size = _NAME_BLOCK_BYTES
        while True:
            name, end, _ = self._read(offset, min(size, there)).partition(b"\0")
            if end:
                return name
            if size >= there:
                raise ElfError("a name in its string table does not end")
            if size >= _NAME_AT_MOST_BYTES:
                raise ElfNotRead(f"a name of more than {_NAME_AT_MOST_BYTES >> 20} MiB")
            size *= 8

    def _symbol(self, name: bytes) -> _Symbol | None:
        """The defined symbol of that name."""
        if _DT_GNU_HASH in self._dynamic:
            candidates = self._gnu_chain(name)
        elif _DT_HASH in self._dynamic:
            candidates = self._sysv_chain(name)
        else:
            return None
        for number in candidates:
            layout = self._layout.symbol
            content = self._at_address(self._tag(_DT_SYMTAB) + number * layout.size, layout.size)
            found = self._symbol_of(layout.unpack(content))
            if found.is_defined and self._string(found.name) == name:
                return found
        return None

    def _symbol_of(self, fields: tuple[int, ...]) -> _Symbol:
        if self.bits == 64:
            name, info, _, section, address, size = fields
        else:
            name, address, size, info, _, section = fields
        return _Symbol(is_defined=section != 0, binding=info >> 4, name=name, address=address, size=size)

    def _word_at(self, address: int) -> int:
        word: int = self._layout.word.unpack(self._at_address(address, 4))[0]
        return word

    def _gnu_header(self) -> tuple[int, ...]:
        """Of DT_GNU_HASH: buckets, the first symbol that is hashed, words of the filter, its shift."""
        if self._gnu is None:
            content = self._at_address(self._tag(_DT_GNU_HASH), 16)
            self._gnu = tuple(each[0] for each in self._layout.word.iter_unpack(content))
        return self._gnu

    def _gnu_chain(self, name: bytes) -> Iterator[int]:
        """Numbers of the symbols whose hash is that of the name (DT_GNU_HASH)."""
        buckets, first, bloom_words, shift = self._gnu_header()
        if not buckets:
            return
        wanted, word_bytes = _gnu_hash(name), self.bits // 8
        bloom = self._tag(_DT_GNU_HASH) + 16
        bucket_table = bloom + bloom_words * word_bytes
        if bloom_words:
            place = bloom + wanted // self.bits % bloom_words * word_bytes
            word = int.from_bytes(self._at_address(place, word_bytes), self._layout.order)
            if not word >> wanted % self.bits & word >> (wanted >> shift) % self.bits & 1:
                return  # most of what it does not define ends here
        number = self._word_at(bucket_table + wanted % buckets * 4)
        chain_table = bucket_table + buckets * 4
        if number < first:
            return
        for step in range(number, number + _CHAIN_AT_MOST):
            seen = self._word_at(chain_table + (step - first) * 4)
            if seen | 1 == wanted | 1:
                yield step
            if seen & 1:
                return
        raise ElfNotRead(f"one bucket of its hash table has more than {_CHAIN_AT_MOST} symbols")

    def _sysv_chain(self, name: bytes) -> Iterator[int]:
        """Numbers of the symbols in the bucket of the name (DT_HASH)."""
        table = self._tag(_DT_HASH)
        buckets = self._word_at(table)
        if not buckets:
            return
        number = self._word_at(table + 8 + _sysv_hash(name) % buckets * 4)
        for _ in range(_CHAIN_AT_MOST):
            if not number:
                return
            yield number
            number = self._word_at(table + 8 + (buckets + number) * 4)
        raise ElfError("its hash table has a bucket without an end")


@functools.lru_cache(1024)
def _gnu_hash(name: bytes) -> int:
    """Remembered, as the same names are looked for in one library after another."""
    value = 5381
    for byte in name:
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def _sysv_hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _text_at(texts: bytes, place: int) -> str:
    return texts[place : place + _SECTION_NAME_AT_MOST_BYTES].partition(b"\0")[0].decode("utf-8", "replace")


def _split_path(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(":") if part)
