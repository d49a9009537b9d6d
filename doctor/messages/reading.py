"""A text of any size, cut down to the lines that can matter.

A small text is kept whole. Of a large one only the lines with a word of the field are kept, with their neighbours,
each kind of line a few times: a log repeats itself. A line is cut, so that one of a megabyte costs no more than others.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from compat.base.record import NamedTuple
from doctor.messages.log_prefixes import unwrapped

WHOLE_BYTES = 48 << 10
_CHUNK_BYTES = 1 << 20
_TAIL_CHUNKS = 8  # the end of a log is where it failed
_KEPT_CHARS = 96 << 10  # more costs a second: every message is looked for in all of it
_EXAMINED = 50_000  # lines with a word, before the rest of the middle is passed over
_LINE_BYTES = 4096
_OBJECT_BYTES = 16 << 10
_LINE_CHARS = 8192  # that are shown of one, and that messages are looked for in
_ALIKE = 5  # lines that differ in digits only
_LAST = 10  # lines that are kept where none has a word
_AROUND = 3  # neighbours that are kept with a line: messages go over several, and versions stand beside them
# In lower case. Every message of `signatures/` holds one of the words; the middle of a large text is searched for those
# few that a failure hardly ever lacks, for each costs a pass over the text.
FEW_WORDS = (b"error", b"cud", b"nvrm", b"nccl")
WORDS = (
    *FEW_WORDS,
    *(b"fail", b"nvidia", b"gpu", b"cannot", b"could not", b"unable", b"glibc", b".so", b".dll", b"nouveau", b"jax"),
    *(
        b"onnx",
        b"ptxas",
        b"assert",
        b"out of memory",
        b"driver",
        b"theano",
        b"torch",
        b"cupy",
        b"mig",
        b"wsl",
        b"docker",
    ),
    *(
        b"no matching distribution",
        b"dependencies",
        b"segmentation fault",
        b"suspend",
        b"shared memory",
        b"undefined",
        b"not found",
        b"invalid",
    ),
    *(b"no space left", b"mem-fraction", b"outofresources", b"has no member"),
    *(b"fatal", b"nvenc", b"cuinit", b"no devices", b"no platform", b"recognized"),
)
_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[\]P_^X][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\-_])")
_PROGRESS = re.compile(rb"\d ?%|\d ?(?:it|s|[kKMG]i?B)/s|\d/\d")
_DIGITS = re.compile(rb"\d+")
_BLANKS_AT_MOST = 160  # in a row: no table is as wide, and patterns take their time over blanks
_BLANKS = re.compile(rf"\s{{{_BLANKS_AT_MOST},}}")


class ByteSource(Protocol):
    """Something that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """So many, or fewer; none at the end."""


class Line(NamedTuple):
    """One line that was kept, as its program wrote it; one that holds several, escaped, is several of one number."""

    number: int  # from 1
    text: str
    width: int = 0  # of the whole line with what stood around it, 0 where it is one of several


class Reading(NamedTuple):
    """What was kept of a text, and how much there was of it."""

    lines: tuple[Line, ...]
    size_bytes: int
    whole: bool  # False where lines were left out
    problem: str = ""  # why it was not read to its end

    @property
    def blocks(self) -> tuple[tuple[Line, ...], ...]:
        """The lines in runs that follow each other without a gap."""
        runs: list[list[Line]] = []
        for line in self.lines:
            if runs and line.number - runs[-1][-1].number <= 1:
                runs[-1].append(line)
            else:
                runs.append([line])
        return tuple(map(tuple, runs))


class _Text:
    """A stream without its encoding: UTF-16 by its mark, as PowerShell writes it; NULs, of UTF-16 without one, go.

    So a log is read to which a Windows program appended, or that holds what is no text.
    """

    def __init__(self, stream: ByteSource) -> None:
        self._stream = stream
        self._start: bytes | None = None
        self._decode: Callable[[bytes], str] | None = None

    def read(self, size: int) -> bytes:
        """So many bytes, or fewer at the end; all where it is below 0."""
        pieces: list[bytes] = []
        left = size
        while left and (piece := self._stream.read(left)):
            if self._start is None:
                self._start = piece[:2]
                if self._start in {b"\xff\xfe", b"\xfe\xff"}:
                    self._decode = codecs.getincrementaldecoder("utf-16")("replace").decode
            piece = self._decode(piece).encode() if self._decode else piece
            pieces.append(piece.translate(None, b"\0") if b"\0" in piece else piece)
            left = max(0, left - len(pieces[-1])) if size >= 0 else -1
        return b"".join(pieces)


def read(stream: ByteSource) -> Reading:
    """Read a text to its end."""
    stream = _Text(stream)
    head = stream.read(WHOLE_BYTES + 1)
    if len(head) <= WHOLE_BYTES:
        lines = head.split(b"\n")
        return Reading(_all(lines), len(head), whole=True)
    return _thinned(_chunks(head, stream))


def read_whole(stream: ByteSource) -> Reading:
    """Read a text to its end, and keep all of it: the caller has bounded it."""
    raw = _Text(stream).read(-1)
    return Reading(_all(raw.split(b"\n")), len(raw), whole=True)


def _all(lines: Iterable[bytes]) -> tuple[Line, ...]:
    return tuple(line for number, raw in enumerate(lines, 1) for line in _lines(number, raw))


def _chunks(head: bytes, stream: ByteSource) -> Iterator[bytes]:
    """The text in pieces that end with a line, but for a line that is longer than a piece."""
    rest = head
    while piece := stream.read(_CHUNK_BYTES):
        rest += piece
        end = rest.rfind(b"\n") + 1 or (len(rest) if len(rest) > 2 * _CHUNK_BYTES else 0)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _thinned(chunks: Iterator[bytes]) -> Reading:
    """Few words all through, all of them in the first chunk and at the end."""
    search = _Search()
    tail: deque[tuple[int, bytes]] = deque(maxlen=_TAIL_CHUNKS)
    size = number = 0
    for chunk in chunks:
        search.look(chunk, number, FEW_WORDS if size else WORDS)
        tail.append((number, chunk))
        size += len(chunk)
        number += chunk.count(b"\n")
    search.examined = 0
    for before, chunk in reversed(tail):  # the very end first: its lines may be too many to examine
        search.look(chunk, before, WORDS)
    return Reading(search.lines() or _last_of(*tail[-1]), size, whole=False)


def _last_of(before: int, chunk: bytes) -> tuple[Line, ...]:
    """The last lines of a text without any word, which is not empty for that."""
    numbered = list(enumerate(chunk.rstrip(b"\n").split(b"\n"), before + 1))[-_LAST:]
    return tuple(line for number, raw in numbered for line in _lines(number, raw[:_LINE_BYTES]))


class _Search:
    """Lines that hold a word, with their neighbours."""

    def __init__(self) -> None:
        self.examined = 0
        self._alike: Counter[bytes] = Counter()
        self._wanted: dict[int, bytes] = {}
        self._seen: set[int] = set()

    def look(self, chunk: bytes, before: int, words: tuple[bytes, ...]) -> None:
        """Search one chunk; `before`: lines that stood before it."""
        if self.examined >= _EXAMINED:
            return
        number, passed = before + 1, 0
        for start, hit in sorted(_lines_with(chunk, words, _EXAMINED - self.examined).items()):
            self.examined += 1
            number, passed = number + chunk.count(b"\n", passed, start), start
            if number in self._seen:
                continue
            kind = _DIGITS.sub(b"0", chunk[start : min(hit + 60, start + 200)].partition(b"\n")[0])
            self._alike[kind] += 1
            if self._alike[kind] <= _ALIKE:
                self._seen.add(number)
                self._wanted.update(_neighbours(chunk, start, number))
                # What holds the word; more of a line of JSON, which may hold a whole traceback.
                self._wanted[number] = (
                    chunk[start : start + _OBJECT_BYTES].partition(b"\n")[0]
                    if b'":' in chunk[start : start + 256] and hit - start < _OBJECT_BYTES - _LINE_BYTES
                    else _cut(chunk, max(start, hit - _LINE_BYTES // 4))
                )

    def lines(self) -> tuple[Line, ...]:
        """What is kept, the last that fit: a log ends with its failure."""
        kept: list[Line] = []
        room = _KEPT_CHARS
        for number, raw in sorted(self._wanted.items(), reverse=True):
            lines = _lines(number, raw)
            room -= sum(len(line.text) + 1 for line in lines)
            if room < 0:
                break
            kept.extend(reversed(lines))
        return tuple(reversed(kept))


def _lines_with(chunk: bytes, words: tuple[bytes, ...], at_most: int) -> dict[int, int]:
    """Where each line with a word starts, and where its first word stands."""
    small = chunk.lower()
    found: dict[int, int] = {}
    for word in words:
        at, left = small.find(word), at_most
        while at >= 0 and left:
            start = small.rfind(b"\n", 0, at) + 1
            found[start] = min(at, found.get(start, at))
            end = small.find(b"\n", at)
            at, left = (small.find(word, end), left - 1) if end >= 0 else (-1, 0)
    return found


def _neighbours(chunk: bytes, start: int, number: int) -> Iterator[tuple[int, bytes]]:
    """The line that starts there and those around it, by number."""
    at = start
    for step in range(_AROUND + 1):
        yield number - step, _cut(chunk, at)
        if at == 0:
            break
        at = chunk.rfind(b"\n", 0, at - 1) + 1
    at = start
    for step in range(1, _AROUND + 1):
        end = chunk.find(b"\n", at)
        if end < 0 or end + 1 >= len(chunk):
            break
        at = end + 1
        yield number + step, _cut(chunk, at)


def _cut(chunk: bytes, start: int) -> bytes:
    end = chunk.find(b"\n", start, start + _LINE_BYTES)
    return chunk[start : end if end >= 0 else start + _LINE_BYTES]


def _lines(number: int, raw: bytes) -> tuple[Line, ...]:
    """Without colours and what steers a terminal; what a carriage return overwrote is gone where it told a progress."""
    bare = raw[:WHOLE_BYTES].rstrip(b"\r\n")
    bare = _ESCAPES.sub(b"", bare) if b"\x1b" in bare else bare
    *before, last = bare.split(b"\r")
    pieces = [one for one in before if one.strip() and not _PROGRESS.search(one)]
    if not pieces or not _PROGRESS.search(last):
        pieces.append(last)
    shown = [_printable(one.decode("utf-8", "replace")) for one in pieces]
    said = [(text, unwrapped(text)) for text in shown]
    one_line = len(said) == 1 and not said[0][1].is_inner
    return tuple(
        Line(number, _printable(each)[:_LINE_CHARS], len(text) if one_line else 0)
        for text, found in said
        for each in found.texts
    )


def _printable(text: str) -> str:
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() or letter == "\t" else " " for letter in text)
    return _BLANKS.sub(" " * _BLANKS_AT_MOST, text) if len(text) > _BLANKS_AT_MOST else text
