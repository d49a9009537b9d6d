"""Sparse files, as GNU tar writes them in each of its formats."""

from __future__ import annotations

import os
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from doctor.image import Damaged
from doctor.image.host import ImageHost
from doctor.image.opened import ImageRequest, open_image
from tests.image.pack import PACKED, tar_with

SIZE = 3 << 20
FORMATS = {
    "gnu": ("--format=gnu",),
    "pax 0.0": ("--format=posix", "--sparse-version=0.0"),
    "pax 0.1": ("--format=posix", "--sparse-version=0.1"),
    "pax 1.0": ("--format=posix", "--sparse-version=1.0"),
}


def library(path: Path) -> bytes:
    """Forty stretches, so that maps go on, and a hole at the end."""
    with path.open("wb") as file:
        for number in range(40):
            file.seek(number << 16)
            file.write(b"%04d" % number * 1024)
        file.truncate(SIZE)
    return path.read_bytes()


@pytest.mark.system
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("packing", ["", "gzip", "zstd"])
def test_a_sparse_file_is_what_it_was(form: str, packing: str, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    content = library(tmp_path / "etc/some.conf")
    (tmp_path / "etc/hole.conf").touch()
    os.truncate(tmp_path / "etc/hole.conf", SIZE)
    (tmp_path / "etc/last.conf").write_bytes(b"last")
    file = tmp_path / "root.tar"
    names = ("etc/some.conf", "etc/hole.conf", "etc/last.conf")
    subprocess.run(["tar", "-S", *FORMATS[form], "-C", tmp_path, "-cf", file, *names], check=True)
    with tarfile.open(file) as archive:
        assert archive.getmember("etc/some.conf").issparse()
    file.write_bytes(PACKED[packing](file.read_bytes()))
    host = ImageHost(open_image(ImageRequest(str(file), uses_cache=False)))
    assert host.read_bytes("/etc/some.conf", SIZE) == content
    assert host.read_bytes("/etc/hole.conf", SIZE) == bytes(SIZE)
    assert host.read_bytes("/etc/last.conf", SIZE) == b"last"


def old(*parts: tuple[int, int], size: int, goes_on: bytes = b"", times: int = 0) -> bytes:
    """An entry of GNU's old form: up to four parts in its header, 21 in each block that follows."""
    header = bytearray(tar_with({"etc/some.conf": b""})[:512])
    for number, (place, length) in enumerate(parts):
        struct.pack_into("12s12s", header, 386 + 24 * number, b"%011o" % (place % (1 << 33)), b"%011o" % length)
    header[156:157], header[257:265] = b"S", b"ustar  \0"
    header[482], header[483:495] = bool(times), b"%011o\0" % size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + goes_on * times + bytes(1024)


@pytest.mark.parametrize("packing", ["", "gzip"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (old((100, 10), (50, 10), size=200), "a sparse file whose parts make no sense"),
        (old((100, 101), size=200), "a sparse file whose parts make no sense"),
        (old((0, 4096), size=4 << 30), "in the middle"),
        (
            old((0, 1), size=2, goes_on=(b"0" * 11 + b"\0") * 42 + b"\1" * 8, times=20_000),
            "a header has more than 8 MiB",
        ),
    ],
    ids=["backwards", "beyond the end", "cut short", "a map without end"],
)
def test_a_map_that_lies(packing: str, content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "root.tar"
    file.write_bytes(PACKED[packing](content))
    with pytest.raises(Damaged, match=words):
        open_image(ImageRequest(str(file), uses_cache=False))


def test_more_holes_than_an_image_has_are_not_read(tmp_path: Path) -> None:
    """Eight petabytes of them take no time."""
    file = tmp_path / "root.tar"
    file.write_bytes(PACKED["gzip"](old(size=1 << 32)[:512] * 1000 + bytes(1024)))
    image = open_image(ImageRequest(str(file), uses_cache=False))
    assert image.spool.size_bytes <= 1 << 20
