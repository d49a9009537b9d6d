"""Files that were made elsewhere: what they hold is text with dumps and messages, or a report of ours."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from compat.record import NamedTuple
from doctor.check.encode import REPORT_SCHEMA
from doctor.explain.nodes import Member, text_of
from doctor.host import BadRequest
from doctor.run.ranks import message_of

STANDARD_INPUT = "-"
_READ_BYTES = 256 << 20  # of a file as it lies there
_TEXT_BYTES = 64 << 20  # that are kept of what it unpacks to
_UNPACKED_BYTES = 1 << 30  # that are gone through: a small archive may unpack to anything
_MEMBERS = 20_000
_MEMBER_BYTES = 16 << 20
_TEXTS = (
    *(".log", ".txt", ".out", ".yaml", ".yml", ".json", ".gz", ".csv"),
    *(".desc", ".descr", ".describe", ".status", ".labels", ".list"),  # of must-gathers
)


class Saved(NamedTuple):
    """What a file holds."""

    text: bytes
    report: dict[str, Any] | None = None  # a saved report of gpudoctor
    members: tuple[Member, ...] = ()  # of an archive


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
            return _of(sys.stdin.buffer.read(_READ_BYTES))
        with open(source, "rb") as stream:
            return _of(stream.read(_READ_BYTES))
    except BadRequest as error:
        raise BadRequest(f"{source}: {error}") from error
    except (OSError, EOFError, ValueError, zlib.error, tarfile.TarError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadRequest(f"{source}: {why[:1].lower()}{why[1:]}") from error


def _of(raw: bytes) -> Saved:
    packed = raw.startswith(b"\x1f\x8b")
    start = _unpacked(io.BytesIO(raw)).read(1024) if packed else raw[:1024]
    if start[257:262] == b"ustar":
        members = tuple(_texts(raw, packed=packed))
        return Saved(text_of(members)[:_TEXT_BYTES], None, members)
    text = _unpacked(io.BytesIO(raw)).read(_TEXT_BYTES) if packed else raw
    return _of_text(text)


def _unpacked(stream: BinaryIO) -> io.BufferedReader:
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


def _texts(raw: bytes, *, packed: bool) -> Iterator[Member]:
    """The texts of an archive; what is no text, or too large, is passed over."""
    stream = _unpacked(io.BytesIO(raw)) if packed else io.BytesIO(raw)
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
                content = _unpacked(io.BytesIO(content)).read(_MEMBER_BYTES)
            content = content[:left]
            left -= len(content)
            yield Member(member.name, content)


def _is_text(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last.lower().endswith(_TEXTS) or "." not in last
