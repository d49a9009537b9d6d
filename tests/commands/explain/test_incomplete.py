"""Bug reports and archives that end early, or are damaged: what is there is judged, and what is not is said."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import sys
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import pytest

from doctor.cli import execute
from doctor.commands.check.command import CheckSubject, report_of
from doctor.commands.explain.evidence import load
from doctor.host import BadRequest
from doctor.model.finding import Report, Status
from tests.commands.explain.test_from_file import packed
from tests.zstd import zstd

CODE = "evidence-incomplete"
BUS = "ecc-xid-hardware-fault"
BUG_REPORT = (Path(__file__).parent / "dumps" / "nvidia-bug-report.txt").read_bytes()
_RANDOM = random.Random(1)
NOISE = "".join(f"{_RANDOM.random()}\n" for _ in range(5_000)).encode()  # hardly packs
MORE_NOISE = "".join(f"{_RANDOM.random()}\n" for _ in range(25_000)).encode()
PACKED = gzip.compress(BUG_REPORT + NOISE, mtime=0)


def zipped(members: dict[str, bytes], *, streamed: bool = False, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """`streamed`: to a pipe, where sizes stand behind each file."""
    out = io.BytesIO()
    sink = _Pipe(out) if streamed else out
    with zipfile.ZipFile(sink, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)  # of 1980: the name of a test holds its bytes
    return out.getvalue()


class _Pipe(io.RawIOBase):
    def __init__(self, out: io.BytesIO) -> None:
        self._out = out

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        return self._out.write(content)  # type: ignore[arg-type]


def judged(folder: Path, content: bytes) -> Report:
    (folder / "a.bin").write_bytes(content)
    return report_of(CheckSubject(source=str(folder / "a.bin")), 0.0)


def said(report: Report) -> list[str]:
    return [one.why for one in report.answers if one.code == CODE and one.kind is Status.UNKNOWN]


MEMBERS = MappingProxyType({"must-gather/nvidia-bug-report.log": BUG_REPORT, "must-gather/pod.log": NOISE})
ARCHIVES: dict[str, bytes] = {
    "gzip": PACKED,
    "xz": lzma.compress(BUG_REPORT + NOISE),
    "bzip2": bz2.compress(BUG_REPORT + NOISE * 4, 1),  # blocks of 100 kB, each read whole or not at all
    "txz": packed({**MEMBERS}, "w:xz"),
    "zstd": zstd.compress(BUG_REPORT + MORE_NOISE),  # blocks of 128 kB
    "tar": packed({**MEMBERS}, "w"),
    "tgz": packed({**MEMBERS}),
    "zip": zipped({**MEMBERS}),
    "zip, streamed": zipped({**MEMBERS}, streamed=True),
    "zip, stored": zipped({**MEMBERS}, method=zipfile.ZIP_STORED),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_what_is_whole_is_read_whole(tmp_path: Path, name: str) -> None:
    report = judged(tmp_path, ARCHIVES[name])
    assert BUS in {one.code for one in report.findings}
    assert said(report) == []


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("part", [0.5, 0.9])
def test_what_is_there_is_judged(tmp_path: Path, name: str, part: float) -> None:
    content = ARCHIVES[name]
    report = judged(tmp_path, content[: int(len(content) * part)])
    assert BUS in {one.code for one in report.findings}
    assert any("ends early" in one and "bytes" in one for one in said(report))


def test_a_size_that_a_header_claims_is_not_gone_through(tmp_path: Path) -> None:
    member = tarfile.TarInfo("big.log")
    member.size = 1 << 40
    with pytest.raises(BadRequest, match="ends early"):
        judged(tmp_path, member.tobuf(tarfile.GNU_FORMAT) + BUG_REPORT)


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_wrong_byte_is_said(tmp_path: Path, name: str) -> None:
    """The checksum of gzip and zip tells it; tar has one of its headers alone."""
    content = bytearray(ARCHIVES[name])
    content[content.find(b"must-gather/pod.log") + 120 if name == "tar" else int(len(content) * 0.7)] ^= 0x55
    report = judged(tmp_path, bytes(content))
    assert BUS in {one.code for one in report.findings}
    assert any("is damaged" in one or "ends early" in one for one in said(report))


def test_a_wrong_checksum_costs_nothing_of_the_text(tmp_path: Path) -> None:
    content = gzip.compress(BUG_REPORT, mtime=0)
    report = judged(tmp_path, content[:-8] + b"\0" * 8)
    assert BUS in {one.code for one in report.findings}
    assert said(report) == [f"the file: it is damaged; {len(BUG_REPORT):,} bytes of text were read"]


def test_a_file_within_an_archive(tmp_path: Path) -> None:
    members = {f"{node}/nvidia-bug-report.log.gz": PACKED for node in ("a", "b")}
    members["b/nvidia-bug-report.log.gz"] = PACKED[: len(PACKED) // 2]
    report = judged(tmp_path, packed(members))
    assert {one.subject.partition(":")[0] for one in report.findings if one.code == BUS} == {"a", "b"}
    assert len(said(report)) == 1
    assert said(report)[0].startswith("b_nvidia-bug-report.log.gz: it ends early")


def test_the_status_is_never_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """4 where nothing is wrong in what is there, 1 where something is."""
    ras = b"CUDA runtime version 12080, driver version 13000\n"
    for text, status in ((ras, 4), (BUG_REPORT, 1)):
        (tmp_path / "a.gz").write_bytes(gzip.compress(text + NOISE)[:-20])
        assert execute(["check", "--from", str(tmp_path / "a.gz")]) == status
        assert "ends early" in capsys.readouterr().out


def test_explain_says_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.gz").write_bytes(
        gzip.compress(b"CUDA driver version is insufficient for CUDA runtime version\n" + NOISE)[:-20]
    )
    assert execute(["explain", str(tmp_path / "a.gz")]) == 1
    assert "the file ends early: only the text before that was read" in capsys.readouterr().out
    assert execute(["explain", str(tmp_path / "a.gz"), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["read"]["problem"] == "the file ends early"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (PACKED[:12], "ends early; no part of it can be read"),
        (zipped({"a.log": NOISE})[:20], "ends early; no text in it can be read"),
        (packed({"a.log": NOISE}, "w")[:300], "ends early; no text in it can be read"),
        (packed({"a.bin": NOISE}), "the archive contains no text"),
        (b"\x28\xb5\x2f\xfd" + NOISE, "is damaged; no part of it can be read"),
        (packed({"a.log": b"\x28\xb5\x2f\xfd" + NOISE}), "the archive contains no text; a.log: it is damaged"),
        (b'{"schema": "gpudoctor.report/1", "facts": {"os"', "is incomplete"),
    ],
)
def test_where_nothing_can_be_read_it_is_one_line(
    tmp_path: Path, content: bytes, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x").write_bytes(content)
    assert execute(["check", "--from", str(tmp_path / "x")]) == 2
    err = capsys.readouterr().err
    assert what in err
    assert err.count("\n") == 1


def test_where_nothing_unpacks_zstd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BadRequest, match=r"a\.bin: .*pip install backports\.zstd.*: unpack it first"):
        judged(tmp_path, ARCHIVES["zstd"])


def test_every_cut_and_many_wrong_bytes_raise_one_error(tmp_path: Path) -> None:
    small = {"a/nvidia-bug-report.log.gz": gzip.compress(BUG_REPORT, mtime=0), "b.txt": b"x" * 600}
    made: tuple[Callable[[], bytes], ...] = (
        lambda: packed(small),
        lambda: packed(small, "w"),
        lambda: zipped(small),
        lambda: zipped(small, streamed=True),
        lambda: packed(small, "w:xz"),
        lambda: bz2.compress(packed(small, "w")),
    )
    rng = random.Random(7)
    for make in made:
        whole = make()
        for _ in range(150):
            raw = bytearray(whole[: rng.randrange(1, len(whole) + 1)])
            for _ in range(rng.randrange(3)):
                raw[rng.randrange(len(raw))] = rng.randrange(256)
            (tmp_path / "x").write_bytes(raw)
            with suppress(BadRequest):
                load(str(tmp_path / "x"))
