"""The quick reading of a tar header says what tarfile says, or leaves the header to it."""

from __future__ import annotations

import contextlib
import random
import tarfile
from typing import Any, Literal

import pytest

from doctor.image.layer import _Header

FIELDS = ("name", "mode", "uid", "gid", "size", "mtime", "type", "linkname")
FORMATS: tuple[Literal[0, 1, 2], ...] = (0, 1, 2)  # ustar, GNU, pax


def headers() -> list[bytes]:
    """Blocks of archives that tarfile wrote: names that are long or no text, numbers beyond octal digits."""
    found = []
    for form in FORMATS:
        for name in ("usr/lib/a", "d/" * 70 + "name", "l" * 300, "caf\udce9", "folder/"):
            for kind in (b"0", b"1", b"2", b"5", b"3", b"\0"):
                one = tarfile.TarInfo(name)
                one.type, one.linkname, one.mode, one.mtime = kind, "usr/" + "t" * 60, 0o4755, 1_700_000_000
                one.uid = one.gid = 1 << 30 if form == tarfile.GNU_FORMAT else 65_534
                with contextlib.suppress(ValueError):  # ustar has no room for it
                    found.append(one.tobuf(form, "utf-8", "surrogateescape"))
    return [block[at : at + 512] for block in found for at in range(0, len(block), 512)]


def said(kind: Any, block: bytes, way: str = "frombuf") -> object:
    try:
        one = getattr(kind, way)(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError as error:
        return type(error)
    if one.isdir():
        one.name = one.name.rstrip("/")  # as tarfile does in the end
    return [getattr(one, field) for field in FIELDS]


def test_a_header_says_what_tarfile_says() -> None:
    blocks = headers()
    seen = [said(_Header, one) for one in blocks]
    assert seen == [said(tarfile.TarInfo, one) for one in blocks]
    assert sum(isinstance(one, list) for one in seen) > 60


@pytest.mark.parametrize("way", ["frombuf", "_frombuf"])
def test_a_number_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Also where tarfile reads headers by a method of its own, as later releases of Python do."""
    if not hasattr(tarfile.TarInfo, "_frombuf"):
        monkeypatch.setattr(tarfile.TarInfo, "_frombuf", tarfile.TarInfo.frombuf, raising=False)
    block = bytearray(tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT))
    assert isinstance(said(_Header, bytes(block), way), list)
    block[100:108] = b"0_644\0\0\0"
    block[148:156] = b"%06o\0 " % (sum(block) - sum(block[148:156]) + 256)
    assert said(_Header, bytes(block), way) is tarfile.InvalidHeaderError  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_header_says_what_tarfile_says(seed: int) -> None:
    """Any byte may be another, with the sum as it was or made right again."""
    chance = random.Random(seed)
    for block in headers():
        damaged = bytearray(block)
        for _ in range(chance.randrange(3)):
            places = [*range(157), chance.randrange(257)]  # a prefix is what tarfile sees in GNU's headers, too
            places += [345, 346, chance.randrange(329)] if block[257:263] == b"ustar\0" else []
            damaged[chance.choice(places)] = chance.choice(b"\0 07_-+x8\x80\xff")
        if chance.random() < 0.8:
            total = sum(damaged) - sum(damaged[148:156]) + 256
            damaged[148:156] = b"%06o\0 " % total
        mine = said(_Header, bytes(damaged))
        is_strange = set(damaged[100:156]) & set(b"_-+x")  # which only int() takes for a number
        assert mine == said(tarfile.TarInfo, bytes(damaged)) or (is_strange and mine is tarfile.InvalidHeaderError)  # type: ignore[attr-defined]
    assert said(_Header, b"") == said(tarfile.TarInfo, b"")
