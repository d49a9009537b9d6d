"""Files that were made elsewhere: what they hold is text with dumps and messages, or a report of ours."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from compat.record import NamedTuple
from doctor.check.encode import REPORT_SCHEMA
from doctor.explain.archives import ZIP, Packed, tar_files, zip_files
from doctor.explain.nodes import Member, plain_name, text_of
from doctor.explain.reading import ByteSource, Reading, read
from doctor.explain.unpacking import GZIP, Inflated
from doctor.facts.unread import Unread
from doctor.host import BadRequest
from doctor.run.ranks import message_of

STANDARD_INPUT = "-"
_TEXT_BYTES = 64 << 20  # that are kept of an archive, or a report
_WHOLE_BYTES = 4 << 20  # of a log; of more, the beginning is kept, and the lines that can matter
_PIECE_BYTES = 1 << 20
_GZIPPED_AT_MOST = 3
_MEMBERS = 20_000
_MEMBER_BYTES = 16 << 20
_TEXTS = (
    *(".log", ".txt", ".out", ".yaml", ".yml", ".json", ".gz", ".csv"),
    *(".desc", ".descr", ".describe", ".status", ".labels", ".list"),  # of must-gathers
)
_REPORT = re.compile(rb'\s*\{\s*"schema": *"' + REPORT_SCHEMA.partition("/")[0].encode())
_Files = Callable[[Any, int], Iterator[Packed]]


class Saved(NamedTuple):
    """What a file holds."""

    text: bytes
    report: dict[str, Any] | None = None  # a saved report of gpudoctor
    members: tuple[Member, ...] = ()  # of an archive
    reading: Reading | None = None  # of a text of which only the beginning is kept
    unread: tuple[Unread, ...] = ()  # what of it could not be read


def load(source: str) -> Saved:
    """Read a file, or standard input for "-"; raises BadRequest for what cannot be read."""
    try:
        if source == STANDARD_INPUT:
            return _read(sys.stdin.buffer)
        with open(source, "rb") as stream:
            return _read(stream)
    except BadRequest as error:
        raise BadRequest(f"{source}: {error}") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadRequest(f"{source}: {why[:1].lower()}{why[1:]}") from error


def _read(stream: ByteSource) -> Saved:
    whole = unpacked(stream)
    kept, files = peeked(whole)
    if files:
        return _of_archive(kept, whole, files)
    text = _filled(kept, _WHOLE_BYTES + 1)
    reading = None
    if len(text) > _WHOLE_BYTES and _REPORT.match(text):
        text += _filled(kept, _TEXT_BYTES - len(text))
    elif len(text) > _WHOLE_BYTES:
        reading = read(_Kept(text, whole))
        text = text[: text.rfind(b"\n") + 1]
    size = reading.size_bytes if reading else len(text)
    unread = (Unread("the file", f"it {whole.why}: {size:,} bytes of text were read"),) if whole.why else ()
    if whole.why and not text.strip():
        raise BadRequest(f"it {whole.why}, and nothing of it can be read")
    return Saved(text, reading=reading, unread=unread) if reading else _of_text(text)._replace(unread=unread)


class _Kept:
    """A stream of which the beginning was read."""

    def __init__(self, start: bytes, stream: ByteSource) -> None:
        self._start, self._at, self._stream = start, 0, stream

    @property
    def why(self) -> str:
        """What is wrong with what it is packed in; what is not packed cannot be seen to end early."""
        return getattr(self._stream, "why", "")

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


def unpacked(stream: ByteSource) -> _Kept:
    """What a file holds, gzipped or not; `why` says at its end what was wrong with it. Raises BadRequest."""
    for _ in range(_GZIPPED_AT_MOST + 1):
        start = _filled(stream, len(GZIP))
        whole = _Kept(start, stream)
        if start != GZIP:
            return whole
        stream = Inflated(whole)
    raise BadRequest(f"it is packed by gzip more than {_GZIPPED_AT_MOST} times")


def peeked(stream: ByteSource) -> tuple[_Kept, _Files | None]:
    """A stream as it is, and what reads its files where it is an archive."""
    start = _filled(stream, 1024)
    files = tar_files if start[257:262] == b"ustar" else zip_files if start.startswith(ZIP) else None
    return _Kept(start, stream), files


def _of_text(text: bytes) -> Saved:
    """A report of ours, torchelastic's error file, else the text itself; raises BadRequest for a part of a report."""
    if text.lstrip()[:1] == b"{":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            if _REPORT.match(text):
                raise BadRequest(f"this report of gpudoctor is not whole: {str(error)[:80]}") from error
            return Saved(text)
        if isinstance(found, dict) and str(found.get("schema", "")).startswith(REPORT_SCHEMA.partition("/")[0]):
            return Saved(b"", found)
        return Saved(message_of(text) or text)
    return Saved(text)


def _of_archive(stream: _Kept, whole: _Kept, files: _Files) -> Saved:
    """The texts of an archive, up to its end or to where it cannot be read on; what is no text is passed over."""
    members: list[Member] = []
    unread: list[Unread] = []
    why = ""
    try:
        why = _collect(files(stream, _MEMBER_BYTES), members, unread)
    except ValueError as error:
        why = whole.why or str(error)
    why = why or whole.why
    if why:
        size = sum(len(one.content) for one in members)
        unread.append(Unread("the archive", f"it {why}: {len(members)} texts with {size:,} bytes were read"))
    if not members:
        each = "".join(f"; {one.label}: {one.why}" for one in unread[:1])
        raise BadRequest(
            f"the archive {why}, and no text in it can be read" if why else f"no text is in the archive{each}"
        )
    return Saved(text_of(members)[:_TEXT_BYTES], None, tuple(members), unread=tuple(unread))


def _collect(files: Iterator[Packed], members: list[Member], unread: list[Unread]) -> str:
    """Add the texts, and what could not be read of them; why not all were looked at, "" where all were."""
    left = _TEXT_BYTES
    for number, one in enumerate(files):
        if number >= _MEMBERS or left <= 0:
            return f"holds more than {_MEMBERS:,} files or {_TEXT_BYTES >> 20} MiB of text"
        if not _is_text(one.name):
            continue
        content, why = one.content, f"is larger than {_MEMBER_BYTES >> 20} MiB" if one.is_larger else one.why
        if content.startswith(GZIP):
            content, damage = _inside(content)
            why = why or damage
        if why:
            unread.append(Unread(plain_name(one.name), f"it {why}: {len(content):,} bytes of it were read"))
        if content:
            members.append(Member(one.name, content[:left]))
            left -= len(content)
    return ""


def _inside(content: bytes) -> tuple[bytes, str]:
    """What a gzipped file of an archive holds, and what is wrong with it."""
    try:
        inner = unpacked(io.BytesIO(content))
        return _filled(inner, _MEMBER_BYTES), inner.why
    except BadRequest as error:
        return b"", str(error).removeprefix("it ")


def _is_text(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last.lower().endswith(_TEXTS) or "." not in last
