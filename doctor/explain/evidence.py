"""Files that were made elsewhere: what they hold is text with dumps and messages, or a report of ours."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any

from compat.record import NamedTuple
from doctor.check.encode import REPORT_SCHEMA
from doctor.explain.nodes import Member, text_of
from doctor.explain.reading import ByteSource, Reading, read
from doctor.host import BadRequest
from doctor.run.ranks import message_of

STANDARD_INPUT = "-"
_TEXT_BYTES = 64 << 20  # that are kept of an archive, or a report
_WHOLE_BYTES = 4 << 20  # of a log; of more, the beginning is kept, and the lines that can matter
_UNPACKED_BYTES = 1 << 30  # that are gone through: a small archive may unpack to anything
_PIECE_BYTES = 1 << 20
_MEMBERS = 20_000
_MEMBER_BYTES = 16 << 20
_TEXTS = (
    *(".log", ".txt", ".out", ".yaml", ".yml", ".json", ".gz", ".csv"),
    *(".desc", ".descr", ".describe", ".status", ".labels", ".list"),  # of must-gathers
)
_REPORT = re.compile(rb'\s*\{\s*"schema": *"' + REPORT_SCHEMA.partition("/")[0].encode())


class Saved(NamedTuple):
    """What a file holds."""

    text: bytes
    report: dict[str, Any] | None = None  # a saved report of gpudoctor
    members: tuple[Member, ...] = ()  # of an archive
    reading: Reading | None = None  # of a text of which only the beginning is kept


class _Bounded(io.RawIOBase):
    """A stream that gives up when it has given too much."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._left = stream, _UNPACKED_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece: bytes = self._stream.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise BadRequest(f"it unpacks to more than {_UNPACKED_BYTES >> 20} MiB")
        buffer[: len(piece)] = piece
        return len(piece)


def load(source: str) -> Saved:
    """Read a file, or standard input for "-"; raises BadRequest for what cannot be read."""
    try:
        if source == STANDARD_INPUT:
            return _read(sys.stdin.buffer)
        with open(source, "rb") as stream:
            return _read(stream)
    except BadRequest as error:
        raise BadRequest(f"{source}: {error}") from error
    except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadRequest(f"{source}: {why[:1].lower()}{why[1:]}") from error


def _read(stream: ByteSource) -> Saved:
    whole = unpacked(stream)
    start = _filled(whole, 1024)
    if start[257:262] == b"ustar":
        members = tuple(_texts(_Kept(start, whole)))
        return Saved(text_of(members)[:_TEXT_BYTES], None, members)
    kept = _Kept(start, whole)
    text = _filled(kept, _WHOLE_BYTES + 1)
    if len(text) > _WHOLE_BYTES and _REPORT.match(text):
        text += _filled(kept, _TEXT_BYTES - len(text))
    elif len(text) > _WHOLE_BYTES:
        return Saved(text[: text.rfind(b"\n") + 1], reading=read(_Kept(text, whole)))
    return _of_text(text)


class _Kept:
    """A stream of which the beginning was read."""

    def __init__(self, start: bytes, stream: ByteSource) -> None:
        self._start, self._at, self._stream = start, 0, stream

    def read(self, size: int) -> bytes:
        if self._at < len(self._start):
            piece = self._start[self._at : self._at + size if size >= 0 else None]
            self._at += len(piece)
            return piece
        self._start = b""
        return self._stream.read(size)


def _filled(stream: ByteSource, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := stream.read(min(size, _PIECE_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def unpacked(stream: ByteSource) -> ByteSource:
    """What a file holds, gzipped or not."""
    start = _filled(stream, 2)
    whole = _Kept(start, stream)
    if start != b"\x1f\x8b":
        return whole
    return _gunzipped(whole)


def _gunzipped(stream: Any) -> io.BufferedReader:
    return io.BufferedReader(_Bounded(gzip.GzipFile(fileobj=stream)))


def _of_text(text: bytes) -> Saved:
    """A report of ours, torchelastic's error file, else the text itself."""
    if text.lstrip()[:1] == b"{":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return Saved(text)
        if isinstance(found, dict) and str(found.get("schema", "")).startswith(REPORT_SCHEMA.partition("/")[0]):
            return Saved(b"", found)
        return Saved(message_of(text) or text)
    return Saved(text)


def _texts(stream: Any) -> Iterator[Member]:
    """The texts of an archive; what is no text, or too large, is passed over."""
    left = _TEXT_BYTES
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for number, member in enumerate(archive):
            if number >= _MEMBERS or left <= 0:
                return
            if not member.isreg() or member.size > _MEMBER_BYTES or not _is_text(member.name):
                continue
            held = archive.extractfile(member)
            content = held.read() if held else b""
            if content.startswith(b"\x1f\x8b"):
                content = _gunzipped(io.BytesIO(content)).read(_MEMBER_BYTES)
            content = content[:left]
            left -= len(content)
            yield Member(member.name, content)


def _is_text(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last.lower().endswith(_TEXTS) or "." not in last
