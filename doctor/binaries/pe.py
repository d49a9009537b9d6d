"""What a Windows library says of itself: machine type, version, exported values; read in pieces, bounded.

Sources: Microsoft, "PE Format", "VS_VERSIONINFO" and "VS_FIXEDFILEINFO". A damaged or hostile file raises PeError, one
beyond a bound of ours PeNotRead.
"""

import struct
from typing import BinaryIO

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from doctor.binaries import NotRead, Pieces

_MACHINES = {0x14C: "i386", 0x1C0: "arm", 0x8664: "x86_64", 0xAA64: "aarch64"}
_EXPORT_OFFSETS = {0x10B: 96, 0x20B: 112}  # of the data directories in the optional header: PE32, PE32+
_EXPORTS, _IMPORTS, _RESOURCES, _DELAYED = 0, 1, 2, 13  # numbers of data directories
_VERSION_RESOURCE = 16  # RT_VERSION
_BELOW = 1 << 31  # the mark of an entry that leads to one more directory of resources
_RESOURCES_AT_MOST = 1000  # entries of one directory
_FIXED_INFO_AT, _FIXED_INFO = 40, 0xFEEF04BD  # after its length, type and the key "VS_VERSION_INFO"
_IMPORTS_AT_MOST = 1000  # DLLs
_SECTIONS_AT_MOST = 96  # the loader's own limit
_HEADERS_OF_SECTIONS = struct.Struct("<8sIIIIIIHHI")
_NAMES_AT_MOST = 1 << 20  # exported; their ordinals have 16 bits
_NAME_AT_MOST_BYTES = 4096


class PeError(GpudoctorError):
    """The file is not a Windows library, or it is damaged; the message says how."""


class PeNotRead(PeError, NotRead):
    """It goes beyond a bound of ours, or the system did not give its bytes: whether it is damaged is not known."""


class Section(NamedTuple):
    """A stretch of the file and where it goes in memory."""

    address: int
    size: int
    offset: int
    name: str = ""


class Pe(Pieces):
    """One PE file. `stream` must stay open as long as questions are asked."""

    damaged, not_read = PeError, PeNotRead

    def __init__(self, stream: BinaryIO) -> None:
        """Read the headers; raises PeError."""
        super().__init__(stream)
        if self._read(0, 2) != b"MZ":
            raise PeError("not a Windows library")
        header = self._numbers("<I", 0x3C)[0]
        if self._read(header, 4) != b"PE\0\0":
            raise PeError("no PE header where its DOS header points")
        number, sections, _, _, _, optional_size, _ = self._numbers("<HHIIIHH", header + 4)
        self.machine = _MACHINES.get(number, f"PE machine {number:#x}")
        self._optional = (header + 24, optional_size)
        self._exports = self._directory(_EXPORTS)
        if sections > _SECTIONS_AT_MOST:
            raise PeError(f"{sections} sections")
        headers = _HEADERS_OF_SECTIONS.iter_unpack(self._read((header + 24 + optional_size), 40 * sections))
        self.sections = tuple(
            Section(fields[2], fields[3], fields[4], fields[0].rstrip(b"\0").decode("utf-8", "replace"))
            for fields in headers
        )

    @property
    def is_truncated(self) -> bool:
        """Whether a section lies beyond the end of the file."""
        return any(one.size and one.offset + one.size > self.size_bytes for one in self.sections)

    def value(self, name: str) -> int | None:
        """The 32-bit number that an exported symbol names, None where nothing is so exported; raises PeError."""
        place = self._export(name.encode())
        return None if place is None else self._numbers_at("<I", place)[0]

    @property
    def imports(self) -> tuple[str, ...]:
        """Names of the DLLs that it needs when it is loaded, in order; raises PeError."""
        return self._imported(_IMPORTS, 20, 12)

    @property
    def delayed_imports(self) -> tuple[str, ...]:
        """Those that it needs at the first call into them; raises PeError."""
        return self._imported(_DELAYED, 32, 4)

    @property
    def file_version(self) -> tuple[int, ...] | None:
        """The four numbers of its version resource, None where it has none; raises PeError."""
        root = self._directory(_RESOURCES)
        place = root and self._resource(root, 0, _VERSION_RESOURCE)
        for _ in ("name", "language"):
            place = place and place & _BELOW and self._resource(root, place ^ _BELOW)
        if not place or place & _BELOW:
            return None
        content = self._numbers_at("<I", root + place)[0]
        signature, _, high, low = self._numbers_at("<IIII", content + _FIXED_INFO_AT)
        return (high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF) if signature == _FIXED_INFO else None

    def _resource(self, root: int, directory: int, wanted: int | None = None) -> int:
        """Where the entry of a number leads, or the first of a directory; 0 for none."""
        named, numbered = self._numbers_at("<HH", root + directory + 12)
        if named + numbered > _RESOURCES_AT_MOST:
            raise PeNotRead(f"more than {_RESOURCES_AT_MOST} resources")
        for number in range(named + numbered):
            name, place = self._numbers_at("<II", root + directory + 16 + 8 * number)
            if wanted in {None, name}:
                return place
        return 0

    def _imported(self, directory: int, step: int, name_at: int) -> tuple[str, ...]:
        """The names in a table of descriptors of `step` bytes, whose end is one without a name."""
        table = self._directory(directory)
        names: list[str] = []
        for number in range(_IMPORTS_AT_MOST if table else 0):
            name = self._numbers_at("<I", table + step * number + name_at)[0]
            if not name:
                return tuple(names)
            names.append(self._text_at(name).decode("ascii", "replace"))
        if table:
            raise PeNotRead(f"more than {_IMPORTS_AT_MOST} imported DLLs")
        return ()

    def _numbers(self, layout: str, offset: int) -> tuple[int, ...]:
        return struct.unpack(layout, self._read(offset, struct.calcsize(layout)))

    def _numbers_at(self, layout: str, address: int) -> tuple[int, ...]:
        return self._numbers(layout, self._offset_of(address))

    def _directory(self, number: int) -> int:
        """The address of one of the data directories, 0 for none."""
        optional, size = self._optional
        magic = self._numbers("<H", optional)[0]
        if magic not in _EXPORT_OFFSETS:
            raise PeError("the kind of its optional header is unknown")
        place = _EXPORT_OFFSETS[magic] + 8 * number
        listed = self._numbers("<I", optional + _EXPORT_OFFSETS[magic] - 4)[0]
        return self._numbers("<I", optional + place)[0] if number < listed and place + 8 <= size else 0

    def _offset_of(self, address: int) -> int:
        one = self._section_of(address)
        return one.offset + address - one.address

    def _section_of(self, address: int) -> Section:
        for one in self.sections:
            if one.address <= address < one.address + one.size:
                return one
        raise PeError(f"address {address:#x} is in no section of the file")

    def _export(self, name: bytes) -> int | None:
        """The address of an exported symbol: its names are sorted, so a few reads find it."""
        if not self._exports:
            return None
        functions, names, function_table, name_table, ordinal_table = self._numbers_at("<IIIII", self._exports + 20)
        if names > _NAMES_AT_MOST:
            raise PeNotRead(f"more than {_NAMES_AT_MOST} exported names")
        low, high = 0, names
        while low < high:
            middle = (low + high) // 2
            found = self._text_at(self._numbers_at("<I", name_table + 4 * middle)[0])
            if found == name:
                ordinal = self._numbers_at("<H", ordinal_table + 2 * middle)[0]
                if ordinal >= functions:
                    raise PeError("an export outside its table")
                return self._numbers_at("<I", function_table + 4 * ordinal)[0]
            low, high = (middle + 1, high) if found < name else (low, middle)
        return None

    def _text_at(self, address: int) -> bytes:
        section, offset = self._section_of(address), self._offset_of(address)
        there = min(section.offset + section.size, self.size_bytes) - offset  # the next may not have been kept
        text, end, _ = self._read(offset, min(_NAME_AT_MOST_BYTES, there)).partition(b"\0")
        if not end and there > _NAME_AT_MOST_BYTES:
            raise PeNotRead(f"a name of more than {_NAME_AT_MOST_BYTES} bytes")
        if not end:
            raise PeError("a name does not end")
        return text
