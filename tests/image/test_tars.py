"""Tars of every kind, whole and damaged, in chunks of every size: the same files as tarfile and GNU tar find."""

from __future__ import annotations

import io
import random
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import pytest

from doctor.image import ImageError
from doctor.image.disk import Disk, Scratch
from doctor.image.host import ImageHost
from doctor.image.layer import Entry, Layer, read_packed, read_plain
from doctor.image.opened import ImageRequest, open_image
from doctor.image.stream import Feed
from tests.image.pack import PACKED

CHUNKS = (1, 7, 511, 512, 513, 1000, 4096)
NAMES = (b"usr/lib/a.so", b"./etc/x", b"/opt//y", b"a/../b", b"../up", b"n\nl", b"\x1b[1m", b"\xff\xfe", b"caf\xc3\xa9")
KINDS = (b"0", b"0", b"0", b"\0", b"7", b"5", b"2", b"1", b"3", b"6")
SPOILT = b"\0 07_-+x8\x80\xff"


def header(name: bytes, kind: bytes = b"0", size: int = 0, *, link: bytes = b"", magic: bytes = b"ustar\x0000",
           prefix: bytes = b"", digits: bytes = b"%07o\0") -> bytes:  # fmt: skip
    """By hand, as tarfile writes none of old or of unknown kinds."""
    block = bytearray(512)
    block[:100], block[156:157], block[157:257] = name[:100].ljust(100, b"\0"), kind, link[:100].ljust(100, b"\0")
    for at, number in ((100, 0o644), (108, 0), (116, 0)):
        block[at : at + 8] = digits % number
    block[124:148] = b"%011o\0%011o\0" % (size, 1_700_000_000)
    block[257:265], block[345:500] = magic, prefix.ljust(155, b"\0")
    return summed(block)


def summed(block: bytearray) -> bytes:
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def filled(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


def record(key: bytes, value: bytes) -> bytes:
    size = len(key) + len(value) + 3
    size += len(str(size + len(str(size))))
    return b"%d %s=%s\n" % (size, key, value)


def member(chance: random.Random) -> bytes:
    """One file, link or other with what stands before it."""
    name, kind = chance.choice(NAMES), chance.choice(KINDS)
    magic = chance.choice((b"ustar\x0000", b"ustar  \0", bytes(8)))
    content = chance.randbytes(chance.choice((0, 1, 511, 512, 513, 3000))) if kind in b"0\x007" else b""
    if content and chance.random() < 0.5:
        content = (b"\x7fELF\x02\x01" + content)[: len(content)]
    before, prefix = b"", b""
    longer, target = name + b"/" + b"l" * 120, chance.choice(NAMES) if kind in b"12" else b""
    way = chance.randrange(8)
    if way == 0:
        before = header(b"././@LongLink", b"L", len(longer) + 1, magic=b"ustar  \0") + filled(longer + b"\0")
    elif way == 1:
        said = record(b"path", longer) + record(b"mtime", b"1.25") + record(b"size", b"%d" % len(content))
        comment = record(b"comment", b"of all")
        before = header(b"global", b"g", len(comment)) + filled(comment) if chance.random() < 0.3 else b""
        before += header(b"PaxHeaders/x", b"x", len(said)) + filled(said)
    elif way == 2:
        prefix, magic = b"above/it", b"ustar\x0000"
    digits = chance.choice((b"%07o\0", b"%07o ", b"%7o\0", b"%06o \0"))
    block = header(name, kind, len(content), link=target, magic=magic, prefix=prefix, digits=digits)
    return before + block + filled(content)


def spoilt(content: bytes, chance: random.Random) -> bytes:
    """A few bytes of it are others, the sums mostly right again."""
    blocks = [content[at : at + 512] for at in range(0, len(content), 512)]
    for _ in range(chance.randrange(1, 4)):
        number = chance.randrange(len(blocks))
        block = bytearray(blocks[number])
        if len(block) == 512:
            block[chance.randrange(100, 160)] = chance.choice(SPOILT)
            blocks[number] = summed(block) if chance.random() < 0.7 else bytes(block)
    return b"".join(blocks)[: len(content) - chance.choice((0, 0, 700))]


def pieces(content: bytes, size: int) -> Iterator[bytes]:
    yield from (content[at : at + size] for at in range(0, len(content), size))


Found = list[tuple[Entry, tuple[tuple[int, bytes], ...]]]


def found_in(layer: Layer) -> Found:
    """Its entries, and what is kept of each."""
    kept = [tuple((one.place, layer.source.read(one.kept_at, one.size)) for one in each.stretches)
            for each in layer.entries]  # fmt: skip
    return [(each._replace(stretches=()), pieces) for each, pieces in zip(layer.entries, kept, strict=True)]


def packed(content: bytes, size: int) -> Found | str:
    try:
        return found_in(read_packed(Feed(pieces(content, size), "layer"), Scratch(1 << 20)))
    except ImageError as error:
        return str(error)


def plain(content: bytes, file: Path) -> Found | str:
    file.write_bytes(content)
    try:
        return found_in(read_plain(Disk(str(file)), "layer"))
    except ImageError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(8))
def test_whole_ones(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(25):
        content = b"".join(member(chance) for _ in range(chance.randrange(1, 8))) + bytes(1024)
        mine = packed(content, 1 << 20)
        assert not isinstance(mine, str)
        assert all(packed(content, size) == mine for size in CHUNKS)
        with tarfile.open(fileobj=io.BytesIO(content), encoding="utf-8", errors="surrogateescape") as archive:
            theirs = archive.getmembers()
            contents = [cast("IO[bytes]", archive.extractfile(one)).read() if one.isreg() else b"" for one in theirs]
        assert [(one.name, one.mtime, one.target) for one, _ in mine] == [
            (one.name, one.mtime, one.linkname) for one in theirs
        ]
        in_place = plain(content, tmp_path / "tar")
        assert not isinstance(in_place, str)
        assert [one for one, _ in in_place] == [one for one, _ in mine]
        for (entry, kept), (_, there), whole in zip(mine, in_place, contents, strict=True):
            assert entry.kind != "file" or (
                entry.size_bytes == len(whole) and b"".join(one for _, one in there) == whole
            )
            assert kept == (((0, whole),) if whole else ())


@pytest.mark.parametrize("seed", range(8))
def test_damaged_ones(seed: int, tmp_path: Path) -> None:
    """Chunks change neither the files nor the words; what lies in a file is refused where it streams by, too."""
    chance = random.Random(1000 + seed)
    refused = 0
    for _ in range(25):
        content = b"".join(member(chance) for _ in range(chance.randrange(1, 8))) + bytes(1024)
        content = spoilt(content, chance)
        mine = packed(content, 1 << 20)
        assert all(packed(content, size) == mine for size in CHUNKS)
        in_place = plain(content, tmp_path / "tar")
        refused += isinstance(mine, str)
        assert not isinstance(mine, str) or isinstance(in_place, str)
        if not isinstance(mine, str) and not isinstance(in_place, str):
            assert [one for one, _ in in_place] == [one for one, _ in mine]
    assert 3 < refused < 25


TIMES = header(b"etc/a.conf", size=1, magic=b"ustar  \0", prefix=b"14753015211")
ODD = {
    "times where ustar has a prefix": (TIMES, "file"),
    "and a number of base 256": (summed(bytearray(TIMES[:136] + b"\x80" + bytes(10) + b"\1" + TIMES[148:])), "file"),
    "nobody knows its kind": (header(b"etc/a.conf", b"8", 1), "file"),
    "a directory with its list": (header(b"etc/a.conf", b"D", 1, magic=b"ustar  \0"), "dir"),
    "a slash at its end": (header(b"etc/a.conf/", b"0", 1), "dir"),
    "a volume's name": (header(b"etc/a.conf", b"V", 1, magic=b"ustar  \0"), ""),
}


@pytest.mark.parametrize("packing", ["", "gzip"])
@pytest.mark.parametrize("case", ODD)
def test_what_tar_makes_of_it(case: str, packing: str, tmp_path: Path) -> None:
    block, kind = ODD[case]
    content = header(b"etc/", b"5") + block + filled(b"x") + header(b"etc/last", size=1) + filled(b"y") + bytes(1024)
    file = tmp_path / "root.tar"
    file.write_bytes(PACKED[packing](content))
    host = ImageHost(open_image(ImageRequest(str(file), uses_cache=False)))
    assert host.names("/") == ("etc",)
    assert host.names("/etc") == (("a.conf", "last") if kind else ("last",))
    assert not kind or host.status("/etc/a.conf").kind == kind
    assert kind != "file" or host.read_bytes("/etc/a.conf") == b"x"


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [(b"x", b"size", b"abc"), (b"x", b"size", b"-1"), (b"x", b"size", b"1_0"), (b"x", b"size", b""),
     (b"g", b"size", b"1"), (b"g", b"path", b"a")],
)  # fmt: skip
def test_a_record_that_makes_no_sense(kind: bytes, key: bytes, value: bytes) -> None:
    """tarfile takes such a size for 0, and what follows for a header; one for all files for that of each."""
    said = record(key, value)
    content = header(b"PaxHeaders/x", kind, len(said)) + filled(said) + header(b"etc/a", size=1) + filled(b"x")
    assert "a pax record that makes no sense" in str(packed(content + bytes(1024), 512))


@pytest.mark.system
def test_an_incremental_archive_of_gnu(tmp_path: Path) -> None:
    (tmp_path / "tree/etc/more").mkdir(parents=True)
    (tmp_path / "tree/etc/a.conf").write_bytes(b"content")
    file = tmp_path / "root.tar"
    subprocess.run(["tar", "-g", tmp_path / "list", "-C", tmp_path / "tree", "-cf", file, "."], check=True)
    host = ImageHost(open_image(ImageRequest(str(file), uses_cache=False)))
    assert host.names("/") == ("etc",)
    assert host.names("/etc") == ("a.conf", "more")
    assert host.read_bytes("/etc/a.conf") == b"content"
