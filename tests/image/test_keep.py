"""What of a library is laid down while it streams by, and the file that it is laid into."""

from __future__ import annotations

import io
import random
import re
import struct
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import pytest

import doctor.loader.cards
from doctor.binaries.fatbin import HEAD, MAGIC, gpu_code_of
from doctor.binaries.pe import Pe
from doctor.image import keep
from doctor.image.disk import _WAITING_AT_MOST_BYTES, Scratch
from doctor.image.keep import _READ_ENDS, _READ_NAMES, _RESERVED_BYTES, PartialExtractor, Pieces, _segments
from tests.lab.pe_file import pe_bytes

HELD = 1 << 16
READ, RUN, WRITTEN = 4, 5, 6
SMALL, LARGE = b"s" * 100, b"l" * (_WAITING_AT_MOST_BYTES + 1)


def elf(*segments: tuple[int, int, int]) -> bytes:
    """The start of a library: its program headers (flags, place, size)."""
    head = bytearray(4096)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", head, 32, 64)
    struct.pack_into("<HH", head, 54, 56, len(segments))
    for number, (flags, place, size) in enumerate(segments):
        struct.pack_into("<IIQQQQ", head, 64 + 56 * number, 1, flags, place, 0, 0, size)
    return bytes(head)


def container() -> bytes:
    entry = struct.pack("<HHIQ", 2, 1, 64, HELD) + bytes(48)
    return HEAD.pack(MAGIC, 1, HEAD.size, len(entry) + HELD) + entry + b"k" * HELD


@pytest.fixture(params=["held in memory", "laid down"])
def step(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How much of a library is given at once; one that comes in pieces and is large is laid down."""
    if request.param == "held in memory":
        return 1 << 20
    monkeypatch.setattr(keep, "_IN_MEMORY_BYTES", 0)
    return 3000


def kept(name: str, content: bytes, spool: Scratch, step: int) -> BinaryIO:
    """What is kept of a file, to be read."""
    pieces = (memoryview(content)[at : at + step] for at in range(0, len(content), step))
    return cast("BinaryIO", Pieces(len(content), PartialExtractor(spool).keep(name, len(content), pieces), spool))


@pytest.mark.parametrize("chunk", [1000, 4096, 1 << 16])
@pytest.mark.parametrize(
    "segments",
    [
        [(READ, 0, 4096), (RUN, 4096, 8192), (READ, 12288, 1 << 20)],  # code, and GPU code right behind it
        [(RUN, 0, 1 << 20)],  # as linkers did it before
        [],
    ],
)
def test_gpu_code_behind_machine_code(
    monkeypatch: pytest.MonkeyPatch, chunk: int, segments: list[tuple[int, int, int]]
) -> None:
    monkeypatch.setattr(keep, "_IN_MEMORY_BYTES", 0)
    content = elf(*segments) + b"c" * 8192 + container() * 3 + b"end" * 100
    keeper = PartialExtractor(Scratch(1 << 20))
    keeper._scratch.clear = lambda: None  # type: ignore[method-assign]
    pieces = (memoryview(content)[at : at + chunk] for at in range(0, len(content), chunk))
    keeper.keep("lib.so", len(content), pieces)
    assert keeper._scratch.size_bytes < len(content) - 3 * HELD + 4096
    assert keeper._scratch.read(0, 1 << 20).count(MAGIC) == 3


@pytest.mark.parametrize(("name", "keeps_constants"), [("d3d.dll", False), ("cudnn64_9.dll", True)])
def test_of_a_dll_only_what_is_asked_for(step: int, name: str, keeps_constants: bool) -> None:
    """An image with Wine has 450 MB of sections that nobody reads."""
    constants = {f"n{number}": number for number in range(4000)}
    content = pe_bytes(name, constants, needs=("a.dll",), delayed=("b.dll",), version=(9, 1, 0, 2))
    spool = Scratch(1 << 20)
    library = Pe(kept(name, content, spool, step))
    assert (library.imports, library.delayed_imports, library.file_version) == (("a.dll",), ("b.dll",), (9, 1, 0, 2))
    assert (spool.size_bytes > len(content) - 4096) is keeps_constants


def test_gpu_code_at_the_start_of_a_dll(step: int) -> None:
    """It is not laid down, and the start is kept nevertheless."""
    content = pe_bytes("a.dll", {"one": 1}, gpu_code=container())
    spool = Scratch(1 << 20)
    file, whole = kept("a.dll", content, spool, step), io.BytesIO(content)
    assert gpu_code_of(Pe(file), file) == gpu_code_of(Pe(whole), whole)
    assert spool.size_bytes < HELD / 4


def test_a_name_right_before_the_gpu_code_of_a_dll(step: int) -> None:
    """It ends in its own section: no more is asked for."""
    content = pe_bytes("a.dll", {f"n{one}": one for one in range(4000)}, gpu_code=container(), needs=("b.dll",))
    assert Pe(kept("a.dll", content, Scratch(1 << 20), step)).imports == ("b.dll",)


@pytest.mark.parametrize(
    ("name", "is_whole"),
    [("env/conda-meta/cudnn-9.json", True), ("usr/local/cuda/version.json", True), ("usr/lib/sdk/api.json", False)],
)
def test_large_json_only_where_a_probe_reads_it(name: str, is_whole: bool) -> None:
    spool = Scratch(1 << 20)
    PartialExtractor(spool).keep(name, 100_000, iter([memoryview(bytes(100_000))]))
    assert (spool.size_bytes == 100_000) is is_whole


def test_what_is_put_is_read() -> None:
    scratch = Scratch(1 << 20)
    for _ in range(2):
        places = [(scratch.put(one), one) for one in (SMALL, LARGE, SMALL, SMALL, LARGE, b"", SMALL)]
        for place, content in places:
            assert place is not None
            assert scratch.read(place, len(content)) == content
        assert scratch.put(bytes(1 << 20)) is None
        assert scratch.is_full
        scratch.clear()
        assert scratch.size_bytes == 0


def test_data_leaves_room_for_what_readers_begin_with() -> None:
    """cuFFT 11.4 has 267 MiB of data in one segment, and the headers of its sections behind them."""
    data = 200 << 20
    head = bytearray(elf((READ, 0, 4096), (WRITTEN, 4096, data)))
    struct.pack_into("<Q", head, 40, 4096 + data)
    block = memoryview(bytes(1 << 20))
    scratch_bytes = _RESERVED_BYTES + (4 << 20)
    scratch = Scratch(scratch_bytes)
    keeper = PartialExtractor(Scratch(1 << 20))
    keeper._scratch = scratch
    scratch.clear = lambda: None  # type: ignore[method-assign]
    end = b"s" * (40 << 10)
    keeper.keep("lib.so", 4096 + data + len(end), chain([memoryview(head)], [block] * 200, [memoryview(end)]))
    assert scratch.read(scratch.size_bytes - len(end), len(end)) == end
    assert scratch.size_bytes < scratch_bytes


def test_what_lies_before_code_in_its_segment_is_laid_down() -> None:
    """libcudnn_graph.so.9 of 9.26: one segment of 127 MiB, whose release is a number at 98 MiB."""
    size = 134_433_840
    head = bytearray(64) + struct.pack("<IIQ16xQ16x", 1, 5, 0, 133_100_000)
    head[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<QQ", head, 32, 64, size - 2048)
    struct.pack_into("<HH", head, 54, 56, 1)
    assert all(not low <= 102_869_464 < high for low, high in _segments(bytes(head), size).code)


@pytest.mark.parametrize("has_memmem", [True, False])
def test_where_containers_begin(monkeypatch: pytest.MonkeyPatch, *, has_memmem: bool) -> None:
    """As plain search finds it, by the C library and without, wherever in a block it lies."""
    if not has_memmem:
        monkeypatch.setattr(keep, "_memmem", lambda: None)
    seed = random.Random(7)
    for _ in range(2_000):
        parts = [seed.choice((MAGIC, MAGIC[:3], b"\0" * 60, seed.randbytes(seed.randrange(200)))) for _ in range(4)]
        content = b"".join(parts)
        begin = seed.randrange(len(content) + 1)
        assert keep._searched(memoryview(content)[begin:]) == content[begin:].find(MAGIC)


def test_python_files_that_cards_read_are_kept() -> None:
    """A card that gets no text takes the file for missing: CuPy 14 was taken for an older one."""
    named = set()
    for card in (Path(doctor.loader.cards.__file__).parent).glob("*.py"):
        named |= set(re.findall(r'(?:text\(|path = |constants\(host, )f?"([^"]+\.py)"', card.read_text()))
    assert "cupy/_environment.py" in named
    assert not [one for one in named if not one.endswith((*_READ_ENDS, *_READ_NAMES))]
