"""Every packing, cut into chunks of any size, beside Python's own modules; what damage and what stands behind do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import sys
import zlib
from collections.abc import Callable, Generator, Iterator

import pytest

from compat.base.compression import DEFLATE, MAGIC_BYTES, Behind, NoUnpacker, Unpackable, packing_of, unpacked
from tests.zstd import zstd

RNG = random.Random(1)
CONTENT = RNG.randbytes(70_000) + bytes(300_000) + b"end"
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": lambda content: zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1}),
}


def pieces(content: bytes, seed: int) -> Iterator[bytes]:
    """Cut at random, into single bytes at first."""
    rng, at = random.Random(seed), 0
    while at < len(content):
        size = 1 if at < 20 else rng.choice((1, 7, 1000, 100_000))
        yield content[at : at + size]
        at += size


class Whole:
    """All that packed bytes hold: before their damage, and what was read behind their end."""

    def __init__(self, chunks: Generator[bytes, None, bytes]) -> None:
        self.content, self.behind = b"", b""
        self._chunks = chunks

    def read(self) -> tuple[bytes, bytes]:
        """Raises Unpackable."""
        while True:
            try:
                piece = next(self._chunks)
            except StopIteration as end:
                return self.content, end.value
            except Unpackable as error:
                self.content += error.before
                raise
            assert len(piece) <= 5000
            self.content += piece


def whole(packed: bytes, packing: str, behind: Behind = "refuse", seed: int = 0) -> tuple[bytes, bytes]:
    return Whole(unpacked(pieces(packed, seed), packing, piece_bytes=5000, behind=behind)).read()


@pytest.mark.parametrize("packing", PACK)
def test_streams_follow_one_another(packing: str) -> None:
    one = PACK[packing](CONTENT)
    assert packing_of(one[:MAGIC_BYTES]) == packing
    for seed in range(5):
        assert whole(one, packing, seed=seed) == (CONTENT, b"")
        assert whole(one + PACK[packing](b"") + one, packing, seed=seed) == (CONTENT * 2, b"")
        assert whole(one + bytes(5000), packing, "ignore", seed) == (CONTENT, b"")
        assert whole(one + bytes(8) + one, packing, "ignore", seed) == (CONTENT * 2, b"")
        assert whole(one + one, packing, "unread", seed)[0] == CONTENT
        assert whole(one + b"other bytes", packing, "ignore", seed)[0] == CONTENT
        with pytest.raises(Unpackable):
            whole(one + b"other bytes", packing, seed=seed)


@pytest.mark.parametrize("packing", PACK)
def test_what_is_cut_or_damaged(packing: str) -> None:
    packed = PACK[packing](CONTENT)
    for at in (1, 10, len(packed) // 2, len(packed) - 1):
        with pytest.raises(Unpackable, match="ends too early") as found:
            whole(packed[:at], packing)
        assert found.value.ends_early
    for _ in range(40):
        at = RNG.randrange(len(packed))
        spoilt = packed[:at] + bytes([packed[at] ^ 1 << RNG.randrange(8)]) + packed[at + 1 :]
        try:
            got, _behind = whole(spoilt, packing)
        except Unpackable:
            continue
        assert got == CONTENT, (packing, at)  # a bit that says nothing, as gzip's time


def test_what_stands_before_the_damage_is_given() -> None:
    content = b"".join(b"%d words of a log\n" % RNG.randrange(10**6) for _ in range(20_000))
    packed = gzip.compress(content)
    half = len(packed) // 2
    read = Whole(
        unpacked(iter([packed[:half] + b"\xff" * 50 + packed[half + 50 :]]), "gzip", piece_bytes=5000, behind="ignore")
    )
    with pytest.raises(Unpackable):
        read.read()
    assert content.startswith(read.content[:100_000])
    assert len(read.content) > 100_000


def test_deflate_says_what_stands_behind() -> None:
    machine = zlib.compressobj(wbits=-15)
    packed = machine.compress(CONTENT) + machine.flush()
    assert Whole(unpacked(iter([packed + b"next"]), DEFLATE, piece_bytes=5000, behind="unread")).read() == (
        CONTENT,
        b"next",
    )


def test_deflated_bytes_may_begin_with_zeros() -> None:
    stored = b"\0" + (5).to_bytes(2, "little") + (5 ^ 0xFFFF).to_bytes(2, "little") + b"hello" + b"\3\0"
    assert whole(stored, DEFLATE, "unread") == (b"hello", b"")


def test_memory_is_bounded() -> None:
    packed = lzma.compress(b"x" * 1000, preset=9)
    with pytest.raises(Unpackable, match="limit"):
        list(unpacked(iter([packed]), "xz", window_bytes=10 << 20))


def test_millions_of_empty_streams_are_refused() -> None:
    with pytest.raises(Unpackable, match="empty streams"):
        list(unpacked(iter([PACK["zstd"](b"") * 20_000]), "zstd"))


def test_a_python_without_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lzma", "compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NoUnpacker, match="no module lzma"):
        list(unpacked(iter([b"x"]), "xz"))
    with pytest.raises(NoUnpacker, match=r"pip install backports\.zstd"):
        list(unpacked(iter([b"x"]), "zstd"))
