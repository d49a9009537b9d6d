"""Tiny DLLs as bytes: a machine type and exported 32-bit numbers."""

from __future__ import annotations

import struct
from collections.abc import Mapping

MACHINES = {"i386": 0x14C, "x86_64": 0x8664, "aarch64": 0xAA64}
_SECTION_ADDRESS, _SECTION_OFFSET = 0x1000, 0x400


def pe_bytes(
    name: str = "a.dll",
    values: Mapping[str, int] | None = None,
    machine: str = "x86_64",
    *,
    gpu_code: bytes = b"",
    gpu_section: bytes = b".nv_fatb",
    needs: tuple[str, ...] = (),
    delayed: tuple[str, ...] = (),
    version: tuple[int, int, int, int] | None = None,
) -> bytes:
    """A PE32+ library with a section for its exports, version and numbers, and one for GPU code where it has some."""
    section = _exports(name, dict(sorted((values or {}).items())))
    section += bytes(-len(section) % 4)
    imports_at, imports = _SECTION_ADDRESS + len(section), _imports(needs, 20, 12, _SECTION_ADDRESS + len(section))
    delayed_at = imports_at + len(imports)
    late = _imports(delayed, 32, 4, delayed_at)
    section += imports + late
    resources_at, resources = _SECTION_ADDRESS + len(section), b""
    if version:
        resources = _version_resource(resources_at, version)
        section += resources
    directories = [(_SECTION_ADDRESS, len(section)), (imports_at if needs else 0, len(imports))]
    directories += [(resources_at if version else 0, len(resources))]
    directories += [(0, 0)] * 10 + [(delayed_at if delayed else 0, len(late)), (0, 0), (0, 0)]
    optional = struct.pack("<HBBIIIII", 0x20B, 14, 0, 0, len(section), 0, 0, 0)
    optional += struct.pack("<QIIHHHHHHIIIIHH", 1 << 32, 0x1000, 0x200, 6, 0, 0, 0, 6, 0, 0, 0x3000, 0x400, 0, 2, 0x160)
    optional += struct.pack("<QQQQII", 1 << 20, 4096, 1 << 20, 4096, 0, 16)
    optional += b"".join(struct.pack("<II", *one) for one in directories)
    header = b"PE\0\0" + struct.pack("<HHIIIHH", MACHINES[machine], 1 + bool(gpu_code), 0, 0, 0, len(optional), 0x2022)
    table = struct.pack(
        "<8sIIIIIIHHI", b".rdata", len(section), _SECTION_ADDRESS, len(section), _SECTION_OFFSET, 0, 0, 0, 0, 0x40000040
    )
    if gpu_code:
        places = (_SECTION_ADDRESS * 16, len(gpu_code), _SECTION_OFFSET + len(section))
        table += struct.pack("<8sIIIIIIHHI", gpu_section, len(gpu_code), *places, 0, 0, 0, 0, 0x40000040)
    dos = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    return (dos + header + optional + table).ljust(_SECTION_OFFSET, b"\0") + section + gpu_code


def _imports(names: tuple[str, ...], step: int, name_at: int, base: int) -> bytes:
    """A table of descriptors, an empty one at its end; of each DLL the symbol number 1 is imported."""
    table, texts = b"", struct.pack("<QQ", 1 << 63 | 1, 0)
    thunks = base + step * (len(names) + 1)
    for name in names:
        fields = [0] * (step // 4)
        fields[name_at // 4] = thunks + len(texts)
        for place in (0, 16) if name_at == 12 else (12, 16):
            fields[place // 4] = thunks
        fields[0] = fields[0] or 1  # a delayed import's attributes: addresses are relative
        table += struct.pack(f"<{len(fields)}I", *fields)
        texts += name.encode() + b"\0"
    content = table + bytes(step) + texts
    return content + bytes(-len(content) % 4) if names else b""


def _version_resource(base: int, version: tuple[int, int, int, int]) -> bytes:
    """Directories for type 16, name 1 and American English, the entry, and a VS_VERSIONINFO without strings."""
    below = 1 << 31
    tables = [(16, below | 24), (1, below | 48), (0x409, 72)]
    content = b"".join(struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, *entry) for entry in tables)
    first, second, third, fourth = version
    fixed = struct.pack("<IIIIII", 0xFEEF04BD, 0x10000, first << 16 | second, third << 16 | fourth, 0, 0) + bytes(28)
    info = (
        struct.pack("<HHH", 40 + len(fixed), len(fixed), 0) + "VS_VERSION_INFO\0".encode("utf-16-le") + bytes(2) + fixed
    )
    return content + struct.pack("<IIII", base + 88, len(info), 0, 0) + info


def _exports(name: str, values: Mapping[str, int]) -> bytes:
    how_many = len(values)
    functions = _SECTION_ADDRESS + 40
    names = functions + 4 * how_many
    ordinals = names + 4 * how_many
    numbers = ordinals + 2 * how_many + (2 * how_many) % 4
    texts = numbers + 4 * how_many
    places, content = [], b""
    for text in (*values, name):
        places.append(texts + len(content))
        content += text.encode() + b"\0"
    return (
        struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, places[-1], 1, how_many, how_many, functions, names, ordinals)
        + b"".join(struct.pack("<I", numbers + 4 * number) for number in range(how_many))
        + b"".join(struct.pack("<I", place) for place in places[:-1])
        + b"".join(struct.pack("<H", number) for number in range(how_many)).ljust(numbers - ordinals, b"\0")
        + b"".join(struct.pack("<I", value) for value in values.values())
        + content
    )
