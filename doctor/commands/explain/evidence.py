"""Files that were made elsewhere: what they hold is text with dumps and messages, or a report of ours."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from compat.base.compression import MAGIC_BYTES, packing_of
from compat.base.record import NamedTuple
from doctor.commands.explain.archives import ZIP, Packed, tar_files, zip_files
from doctor.commands.explain.cluster_archive import Member, plain_name, text_of
from doctor.commands.explain.unpacking import Inflated, Pushed
from doctor.host import BadRequest
from doctor.host.documents import parse_json
from doctor.host.files import open_named
from doctor.messages.reading import ByteSource, Reading, read
from doctor.messages.torchelastic_errors import message_of
from doctor.model.encode import REPORT_SCHEMA
from doctor.model.facts.failure import Unread

STANDARD_INPUT = "-"
_TEXT_BYTES = 64 << 20  # that are kept of an archive, or a report
_WHOLE_BYTES = 4 << 20  # of a log; of more, the beginning is kept, and the lines that can matter
_PACKED_AT_MOST = 3
_MEMBERS = 20_000
_MEMBER_BYTES = 16 << 20
_TEXTS = (
    *(".log", ".txt", ".out", ".yaml", ".yml", ".json", ".csv", ".gz", ".xz", ".bz2", ".zst"),
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
        with open_named(source) as stream:
            return _read(stream)
    except BadRequest as error:
        raise BadRequest(f"{source}: {error}") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadRequest(f"{source}: {why}") from error


def _read(stream: ByteSource) -> Saved:
    whole = unpacked(stream)
    if files := files_of(whole):
        return _of_archive(whole, files)
    text = whole.take(_WHOLE_BYTES + 1)
    reading = None
    if len(text) > _WHOLE_BYTES and _REPORT.match(text):
        text += whole.take(_TEXT_BYTES - len(text))
    elif len(text) > _WHOLE_BYTES:
        reading = read(Pushed(whole, text))
        text = text[: text.rfind(b"\n") + 1]
    size = reading.size_bytes if reading else len(text)
    unread = (Unread("the file", f"it {whole.why}; {size:,} bytes of text were read"),) if whole.why else ()
    if whole.why and not text.strip():
        raise BadRequest(f"it {whole.why}; no part of it can be read")
    return Saved(text, reading=reading, unread=unread) if reading else _of_text(text)._replace(unread=unread)


def unpacked(stream: ByteSource) -> Pushed:
    """What a file holds, packed or not; `why` says at its end what was wrong with it. Raises BadRequest."""
    for _ in range(_PACKED_AT_MOST + 1):
        whole = Pushed(stream)
        packing = packing_of(whole.peek(MAGIC_BYTES))
        if not packing:
            return whole
        stream = Inflated(whole, packing)
    raise BadRequest(f"it is compressed more than {_PACKED_AT_MOST} times")


def files_of(stream: Pushed) -> _Files | None:
    """What reads its files, where it is an archive."""
    start = stream.peek(1024)
    return tar_files if start[257:262] == b"ustar" else zip_files if start.startswith(ZIP) else None


def _of_text(text: bytes) -> Saved:
    """A report of ours, torchelastic's error file, else the text itself; raises BadRequest for a part of a report."""
    if text.lstrip()[:1] == b"{":
        try:
            found = parse_json(text)
        except ValueError as error:
            if _REPORT.match(text):
                raise BadRequest(f"this gpudoctor report is incomplete: {str(error)[:80]}") from error
            return Saved(text)
        if isinstance(found, dict) and str(found.get("schema", "")).startswith(REPORT_SCHEMA.partition("/")[0]):
            return Saved(b"", found)
        return Saved(message_of(text) or text)
    return Saved(text)


def _of_archive(whole: Pushed, files: _Files) -> Saved:
    """The texts of an archive, up to its end or to where it cannot be read on; what is no text is passed over."""
    members: list[Member] = []
    unread: list[Unread] = []
    why = ""
    try:
        why = _collect(files(whole, _MEMBER_BYTES), members, unread)
    except ValueError as error:
        why = whole.why or str(error)
    why = why or whole.why
    if why:
        size = sum(len(one.content) for one in members)
        unread.append(Unread("the archive", f"it {why}: {len(members)} texts with {size:,} bytes were read"))
    if not members:
        each = "".join(f"; {one.label}: {one.why}" for one in unread[:1])
        raise BadRequest(
            f"the archive {why}; no text in it can be read" if why else f"the archive contains no text{each}"
        )
    return Saved(text_of(members)[:_TEXT_BYTES], None, tuple(members), unread=tuple(unread))


def _collect(files: Iterator[Packed], members: list[Member], unread: list[Unread]) -> str:
    """Add the texts, and what could not be read of them; why not all were looked at, "" where all were."""
    left = _TEXT_BYTES
    for number, one in enumerate(files):
        if number >= _MEMBERS or left <= 0:
            return f"contains more than {_MEMBERS:,} files or {_TEXT_BYTES >> 20} MiB of text"
        last = one.name.rpartition("/")[2]
        if not (last.lower().endswith(_TEXTS) or "." not in last):
            continue
        content, why = one.content, f"is larger than {_MEMBER_BYTES >> 20} MiB" if one.is_larger else one.why
        content, damage = _inside(content)
        why = why or damage
        if why:
            unread.append(Unread(plain_name(one.name), f"it {why}: {len(content):,} bytes of it were read"))
        if content:
            members.append(Member(one.name, content[:left]))
            left -= len(content)
    return ""


def _inside(content: bytes) -> tuple[bytes, str]:
    """What a file of an archive holds, packed or not, and what is wrong with it."""
    try:
        inner = unpacked(io.BytesIO(content))
        return inner.take(_MEMBER_BYTES), inner.why
    except BadRequest as error:
        return b"", str(error).removeprefix("it ")
