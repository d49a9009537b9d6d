"""A registry hive as Windows writes it, small: keys, texts, lists of texts and numbers.

Source: "Windows registry file format specification" (msuhanov/regf); tests/host/test_hive.py holds it against libhivex.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

Value = str | list[str] | int
_NOTHING = 0xFFFFFFFF
_BASE = 4096


class _Cells:
    """The cells of one bin, of which an offset counts from its start."""

    def __init__(self) -> None:
        self.content = bytearray(32)

    def add(self, content: bytes) -> int:
        offset, size = len(self.content), (len(content) + 4 + 7) // 8 * 8
        self.content += (struct.pack("<i", -size) + content).ljust(size, b"\0")
        return offset


def hive_bytes(values: Mapping[str, Mapping[str, Value]]) -> bytes:
    r"""The file of these keys ("ControlSet001\Enum"), whose parents come by themselves."""
    cells = _Cells()
    root = _key(cells, "ROOT", "", values, parent=0)
    size = (len(cells.content) + 4 + _BASE - 1) // _BASE * _BASE
    cells.add(bytes(size - len(cells.content) - 4))
    cells.content[:32] = struct.pack("<4sII8xQI", b"hbin", 0, size, 0, 0)
    header = struct.pack("<4sIIQIIIIIII", b"regf", 1, 1, 0, 1, 5, 0, 1, root, size, 1)
    header = header.ljust(48, b"\0") + "SYSTEM".encode("utf-16-le").ljust(64, b"\0")
    header = header.ljust(508, b"\0")
    check = 0
    for (word,) in struct.iter_unpack("<I", header):
        check ^= word
    return (header + struct.pack("<I", check)).ljust(_BASE, b"\0") + bytes(cells.content)


def _key(cells: _Cells, name: str, path: str, values: Mapping[str, Mapping[str, Value]], parent: int) -> int:
    below = [one.removeprefix(path) for one in values if one.startswith(path) and one != path]
    names = sorted({one.partition("\\")[0] for one in below}, key=str.upper)
    own = values.get(path.removesuffix("\\"), {}) if path else {}
    place = cells.add(bytes(76 + len(name)))
    keys = [_key(cells, one, f"{path}{one}\\", values, place) for one in names if one]
    listed = _NOTHING
    if keys:
        hashes = b"".join(struct.pack("<I4s", at, one[:4].encode()) for at, one in zip(keys, names, strict=True))
        listed = cells.add(struct.pack("<2sH", b"lf", len(keys)) + hashes)
    values_at = _NOTHING
    if own:
        places = [_value(cells, *one) for one in own.items()]
        values_at = cells.add(struct.pack(f"<{len(places)}I", *places))
    flags = 0x20 if path else 0x2C
    head = struct.pack("<2sHQIIIIIIIIII", b"nk", flags, 0, 0, parent, len(keys), 0, listed, _NOTHING, len(own),
                       values_at, _NOTHING, _NOTHING)  # fmt: skip
    head += struct.pack("<IIIIIHH", 0, 0, 0, 0, 0, len(name), 0) + name.encode()
    cells.content[place + 4 : place + 4 + len(head)] = head
    return place


def _value(cells: _Cells, name: str, value: Value) -> int:
    if isinstance(value, int):
        size, at, kind = 0x80000004, value, 4
    else:
        text = value + "\0" if isinstance(value, str) else "".join(f"{one}\0" for one in value) + "\0"
        data = text.encode("utf-16-le")
        size, at, kind = len(data), cells.add(data), 1 if isinstance(value, str) else 7
    return cells.add(struct.pack("<2sHIIIHH", b"vk", len(name), size, at, kind, 1, 0) + name.encode())
