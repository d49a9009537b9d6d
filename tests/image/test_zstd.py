"""zstd in a layer: every frame, each kind of damage, windows and memory."""

from __future__ import annotations

import gzip
import platform
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.base import compression
from doctor.image import Damaged, ImageError
from doctor.image.stream import Tally, unpacked
from tests.zstd import zstd

CONTENT = random.Random(0).randbytes(400_000) + bytes(3 << 20) + b"end"
FRAME = zstd.compress(CONTENT, options={zstd.CompressionParameter.checksum_flag: 1})
SKIPPABLE = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"index"


def pieces(content: bytes) -> Iterator[bytes]:
    yield from (content[at : at + 10_000] for at in range(0, len(content), 10_000))


def of(content: bytes) -> bytes:
    kind, chunks = unpacked(pieces(content), "layer", Tally())
    assert kind == "zstd"
    return b"".join(chunks)


@pytest.mark.parametrize(
    ("packed", "content"),
    [
        (FRAME, CONTENT),
        (FRAME + FRAME, CONTENT * 2),
        (SKIPPABLE + FRAME + SKIPPABLE, CONTENT),
        (FRAME + SKIPPABLE + FRAME, CONTENT * 2),
        (zstd.compress(b""), b""),
    ],
)
def test_frames(packed: bytes, content: bytes) -> None:
    assert of(packed) == content


def test_frames_of_a_byte_are_put_together() -> None:
    """Each alone takes a hundred times its room, and a library in memory may have a million of them."""
    _, chunks = unpacked(iter([zstd.compress(b"x") * 70_000]), "layer", Tally())
    assert [*map(len, chunks)] == [64 << 10, 70_000 - (64 << 10)]


def test_what_stands_behind_a_member_is_not_copied_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    class Watched(compression._Zlib):
        def decompress(self, content: bytes, max_length: int) -> bytes:
            given.append(len(content))
            return super().decompress(content, max_length)

    monkeypatch.setattr(compression, "_Zlib", Watched)
    packed = gzip.compress(b"x") * 5000 + gzip.compress(CONTENT) + bytes(1 << 20)
    _, chunks = unpacked(iter([packed]), "layer", Tally())
    assert b"".join(chunks) == b"x" * 5000 + CONTENT
    assert sum(given) < 100 * len(packed)  # 2,000 times with all of it each time


@pytest.mark.parametrize(
    "packed",
    [
        FRAME[:-1],
        FRAME[:200_000],
        FRAME + FRAME[:300],
        FRAME[:6] + b"\xff" + FRAME[7:],
        FRAME[:100_000] + bytes([FRAME[100_000] ^ 1]) + FRAME[100_001:],
        FRAME + b"what follows is no frame",
        FRAME + SKIPPABLE[:-1],
    ],
    ids=["a byte", "half", "the second frame", "its header", "a bit", "what follows", "a skippable frame"],
)
def test_damage(packed: bytes) -> None:
    with pytest.raises(Damaged, match=r"layer: its zstd data is (damaged|cut short)"):
        of(packed)


def test_what_breaks_off_below_is_raised() -> None:
    def broken() -> Iterator[bytes]:
        yield FRAME[:100_000]
        raise Damaged("below")

    _, chunks = unpacked(broken(), "layer", Tally())
    with pytest.raises(Damaged, match="below"):
        list(chunks)


def test_a_window_that_is_too_large_is_refused() -> None:
    options = {zstd.CompressionParameter.window_log: 28, zstd.CompressionParameter.content_size_flag: 0}
    machine = zstd.ZstdCompressor(options=options)
    with pytest.raises(Damaged, match="needs more than 128 MiB"):
        of(machine.compress(CONTENT) + machine.flush())


def test_where_nothing_unpacks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImageError, match=r"layer is packed with zstd: .*pip install backports\.zstd"):
        of(FRAME)


FAULTS = """
import resource, sys
from doctor.image.disk import Disk
from doctor.image.stream import Tally, stretches_of, unpacked
disk = Disk(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
_, chunks = unpacked(stretches_of(disk, 0, disk.size_bytes), "layer", Tally())
print(sum(map(len, chunks)) // 4096, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives memory back so soon")
def test_memory_is_used_again(tmp_path: Path) -> None:
    """What is unpacked is not put into pages that the system brings anew each time; some chunks are on their way."""
    seed = random.Random(1)
    content = b"".join(seed.randbytes(32 << 10) + bytes(32 << 10) for _ in range(1 << 12))
    (tmp_path / "layer").write_bytes(zstd.compress(content))
    argv = (sys.executable, "-c", FAULTS, str(tmp_path / "layer"))
    pages, faults = map(int, subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split())
    assert pages == (256 << 20) // 4096
    assert faults < pages / 4  # more than half of them where memory is given back


def long_range(window_log: int) -> bytes:
    options = {zstd.CompressionParameter.window_log: window_log, zstd.CompressionParameter.content_size_flag: 0}
    machine = zstd.ZstdCompressor(options=options)
    return bytes(machine.compress(CONTENT) + machine.flush())


def test_the_window_in_a_packed_file_is_smaller() -> None:
    """Both lie in memory: two of 128 MiB took 360 MiB."""
    fits, does_not = long_range(25), long_range(26)
    for is_within, packed in ((False, does_not), (True, fits)):
        assert b"".join(unpacked(iter([packed]), "layer", Tally(), is_within=is_within)[1]) == CONTENT
    with pytest.raises(Damaged, match="needs more than 32 MiB in a packed file: unpack that first"):
        list(unpacked(iter([does_not]), "layer", Tally(), is_within=True)[1])
