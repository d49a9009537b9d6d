"""Tiny shared libraries as bytes, for any class, byte order and machine, without a compiler.

They carry what a loader and `doctor.binaries.elf` read: SONAME, NEEDED, search paths, symbols with values, a text.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

MACHINES = {"i386": 3, "ppc64": 21, "s390x": 22, "x86_64": 62, "aarch64": 183}


class _Format(NamedTuple):
    header: str
    segment: str
    entry: str
    symbol: str
    section: str


_FORMATS = {
    64: _Format("HHIQQQIHHHHHH", "IIQQQQQQ", "qQ", "IBBHQQ", "IIQQQQIIQQ"),
    32: _Format("HHIIIIIHHHHHH", "8I", "iI", "IIIBBH", "10I"),
}


class _Strings:
    """A string table under construction."""

    def __init__(self) -> None:
        self.content = b"\0"

    def add(self, text: str) -> int:
        place = len(self.content)
        self.content += text.encode() + b"\0"
        return place


def elf_bytes(
    soname: str = "",
    *,
    needed: Iterable[str] = (),
    rpath: str = "",
    runpath: str = "",
    values: Mapping[str, int] | None = None,
    undefined: Iterable[str] = (),
    rodata: bytes = b"\0",
    rodata_name: str = ".rodata",
    machine: str = "x86_64",
    bits: int = 64,
    order: str = "<",
    hash_kind: str = "gnu",
    flags_1: int = 0,
) -> bytes:
    """A shared library; `values` are exported 32-bit numbers, `undefined` names that it only asks for."""
    layout = _FORMATS[bits]
    packed = {name: struct.Struct(order + text) for name, text in layout._asdict().items()}
    defined = dict(values or {})
    undefined = tuple(undefined)
    strings = _Strings()
    dynamic = [(1, strings.add(one)) for one in needed]
    dynamic += [(tag, strings.add(text)) for tag, text in ((14, soname), (15, rpath), (29, runpath)) if text]
    dynamic += [(0x6FFFFFFB, flags_1)] if flags_1 else []
    names = [(name, strings.add(name)) for name in (*undefined, *defined)]
    hashes = _hash_table(order, bits, [name for name, _ in names], len(undefined), hash_kind)

    dynamic_at = 16 + packed["header"].size + 3 * packed["segment"].size
    symbols_at = dynamic_at + packed["entry"].size * (len(dynamic) + 5)
    hashes_at = _aligned(symbols_at + packed["symbol"].size * (len(names) + 1))
    strings_at = _aligned(hashes_at + len(hashes))
    values_at = _aligned(strings_at + len(strings.content))
    rodata_at = _aligned(values_at + 4 * len(defined))
    section_names = f"\0{rodata_name}\0.shstrtab\0".encode()
    section_names_at = rodata_at + len(rodata)
    sections_at = _aligned(section_names_at + len(section_names))
    loaded = section_names_at

    dynamic += [(5, strings_at), (10, len(strings.content)), (6, symbols_at)]
    dynamic += [({"gnu": 0x6FFFFEF5, "sysv": 4, "none": 0}[hash_kind], hashes_at), (0, 0)]
    pieces = {
        0: _header(packed, bits, order, machine, sections_at),
        16 + packed["header"].size: b"".join(
            _segment(bits, packed["segment"], *one)
            for one in ((1, 0, loaded), (2, dynamic_at, packed["entry"].size * len(dynamic)), (0x6474E551, 0, 0))
        ),
        dynamic_at: b"".join(packed["entry"].pack(*one) for one in dynamic),
        symbols_at: _symbols(bits, packed["symbol"], names, len(undefined), values_at),
        hashes_at: hashes,
        strings_at: strings.content,
        values_at: b"".join(struct.pack(f"{order}I", value) for value in defined.values()),
        rodata_at: rodata,
        section_names_at: section_names,
        sections_at: packed["section"].pack(*[0] * 10)
        + packed["section"].pack(1, 1, 2, rodata_at, rodata_at, len(rodata), 0, 0, 1, 0)
        + packed["section"].pack(len(rodata_name) + 2, 3, 0, 0, section_names_at, len(section_names), 0, 0, 1, 0),
    }
    content = b""
    for place in sorted(pieces):
        content = content.ljust(place, b"\0") + pieces[place]
    return content


def _aligned(place: int) -> int:
    return (place + 7) & ~7


def _header(packed: Mapping[str, struct.Struct], bits: int, order: str, machine: str, sections_at: int) -> bytes:
    ident = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    size = 16 + packed["header"].size
    sizes = (size, packed["segment"].size, 3, packed["section"].size, 3, 2)
    return ident + packed["header"].pack(3, MACHINES[machine], 1, 0, size, sections_at, 0, *sizes)


def _segment(bits: int, layout: struct.Struct, kind: int, place: int, size: int) -> bytes:
    flags, alignment = 6, 0x1000 if kind == 1 else 8
    if bits == 64:
        return layout.pack(kind, flags, place, place, place, size, size, alignment)
    return layout.pack(kind, place, place, place, size, size, flags, alignment)


def _symbols(bits: int, layout: struct.Struct, names: list[tuple[str, int]], undefined: int, values_at: int) -> bytes:
    content = layout.pack(*[0] * 6)
    for number, (_, name_at) in enumerate(names):
        place = 0 if number < undefined else values_at + 4 * (number - undefined)
        section = 0 if number < undefined else 1
        fields = (name_at, 0x11, 0, section, place, 4) if bits == 64 else (name_at, place, 4, 0x11, 0, section)
        content += layout.pack(*fields)
    return content


def _hash_table(order: str, bits: int, names: list[str], undefined: int, kind: str) -> bytes:
    """One bucket that holds every defined name."""
    if kind == "sysv":
        chain = [0, *range(2, len(names) + 1), 0] if names else [0]
        return struct.pack(f"{order}{3 + len(chain)}I", 1, len(chain), 1 if names else 0, *chain)
    first = 1 + undefined
    hashes = [_gnu_hash(name) & ~1 for name in names[undefined:]]
    if hashes:
        hashes[-1] |= 1
    bloom = b"\xff" * (bits // 8)
    head = struct.pack(f"{order}4I", 1, first, 1, 0) + bloom
    return head + struct.pack(f"{order}{1 + len(hashes)}I", first if hashes else 0, *hashes)


def _gnu_hash(name: str) -> int:
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) % 2**32
    return value
