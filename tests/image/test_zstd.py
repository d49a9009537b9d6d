"""zstd by the module and by the program: the same bytes, and the same damage noticed."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from doctor.image import Damaged
from doctor.image.stream import Tally, _zstd_module, unpacked

zstd = _zstd_module()
CONTENT = random.Random(0).randbytes(400_000) + bytes(3 << 20) + b"end"
FRAME = zstd.compress(CONTENT, options={zstd.CompressionParameter.checksum_flag: 1})
SKIPPABLE = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"index"
BY = [pytest.param("module"), pytest.param("program", marks=pytest.mark.system)]


@pytest.fixture(params=BY)
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "program":
        monkeypatch.setattr("doctor.image.stream._zstd_module", lambda: None)
    return str(request.param)


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
@pytest.mark.usefixtures("by")
def test_frames(packed: bytes, content: bytes) -> None:
    assert of(packed) == content


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
@pytest.mark.usefixtures("by")
def test_damage(packed: bytes) -> None:
    with pytest.raises(Damaged, match=r"layer: its zstd data is (damaged|cut short)"):
        of(packed)


@pytest.mark.usefixtures("by")
def test_what_breaks_off_below_is_raised() -> None:
    def broken() -> Iterator[bytes]:
        yield FRAME[:100_000]
        raise Damaged("below")

    _, chunks = unpacked(broken(), "layer", Tally())
    with pytest.raises(Damaged, match="below"):
        list(chunks)
