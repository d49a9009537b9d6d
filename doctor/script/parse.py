"""The instructions of a Dockerfile, with the lines that they stand in.

Sources: the Dockerfile reference ("Format", "Parser directives", "Here-documents", "ONBUILD"); moby/buildkit,
frontend/dockerfile/parser/parser.go (comments and empty lines within a continuation are left out).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import BadRequest

FILE_AT_MOST_BYTES = 512 << 10
INSTRUCTIONS_AT_MOST = 10_000
STAGES_AT_MOST = 1_000


class DockerfileError(BadRequest):
    """It is no Dockerfile, or one that nobody could build. One line and exit 2."""


_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(\S.*)")
_HEREDOC = re.compile(r"(?:(?<=\s)|^)\d*<<(-?)([\"']?)([A-Za-z_][\w.-]*)\2(?=$|[\s;&|>)])")
_WITH_HEREDOC = frozenset({"RUN", "COPY", "ADD"})
_KEYWORDS = frozenset(
    [
        "ADD",
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "ENV",
        "EXPOSE",
        "FROM",
        "HEALTHCHECK",
        "LABEL",
        "MAINTAINER",
        "ONBUILD",
        "RUN",
        "SHELL",
        "STOPSIGNAL",
        "USER",
        "VOLUME",
        "WORKDIR",
    ]
)


class Instruction(NamedTuple):
    """One instruction, its continuation lines joined."""

    keyword: str  # "RUN", in capitals
    text: str  # what follows; the lines of here-documents stand below the first
    starts: tuple[int, ...]  # offsets in the text at which the lines of the file begin
    numbers: tuple[int, ...]  # of these lines, from 1
    file: str = ""  # where it is not the Dockerfile

    def line_at(self, offset: int) -> int:
        """The line of the file in which a character of the text stands."""
        return self.numbers[max(0, bisect_right(self.starts, offset) - 1)]


class Script(NamedTuple):
    """The instructions of a file."""

    instructions: tuple[Instruction, ...]
    escape: str  # "\\", "`" where a directive says so


def parse(content: bytes, shown: str) -> Script:
    """Read a Dockerfile; raises DockerfileError. `shown` is how the file is called."""
    if len(content) > FILE_AT_MOST_BYTES:
        raise DockerfileError(f"{shown}: more than {FILE_AT_MOST_BYTES >> 10} KiB, which no Dockerfile has")
    if b"\0" in content:
        raise DockerfileError(f"{shown}: it is not text")
    lines = [one.rstrip("\r") for one in content.decode("utf-8-sig", "replace").split("\n")]
    escape = _escape(lines, shown)
    found: list[Instruction] = []
    for one in _instructions(lines, escape, shown):
        found.append(one)
        if len(found) > INSTRUCTIONS_AT_MOST:
            raise DockerfileError(f"{shown}: more than {INSTRUCTIONS_AT_MOST} instructions, which no Dockerfile has")
    if not found:
        raise DockerfileError(f"{shown}: it holds no instruction")
    return Script(tuple(found), escape)


def _escape(lines: list[str], shown: str) -> str:
    """The directives stand before everything else, comments too."""
    for line in lines:
        said = _DIRECTIVE.fullmatch(line.strip())
        if not said or said[1].lower() not in {"syntax", "escape", "check"}:
            break
        if said[1].lower() == "escape":
            if said[2] not in ("\\", "`"):
                raise DockerfileError(f"{shown}: escape is \\ or `, not {said[2][:20]!r}")
            return said[2]
    return "\\"


def _instructions(lines: list[str], escape: str, shown: str) -> Iterator[Instruction]:
    continued = re.compile(rf"{re.escape(escape)}[ \t]*$")
    at = 0
    while at < len(lines):
        parts: list[tuple[int, str]] = []
        more = True
        while more and at < len(lines):
            line, at = lines[at], at + 1
            bare = line.strip()
            if not bare or bare.startswith("#"):
                more = bool(parts)
                continue
            end = continued.search(line)
            more = end is not None
            parts.append((at, line[: end.start()] if end else line))
        if parts:
            one = _joined(parts, shown)
            if one.keyword in _WITH_HEREDOC or one.keyword == "ONBUILD":
                one, at = _with_bodies(one, lines, at, shown)
            yield one


def _joined(parts: list[tuple[int, str]], shown: str) -> Instruction:
    number, first = parts[0]
    keyword, _, rest = first.strip().partition(" ") if "\t" not in first else _split(first.strip())
    if keyword.upper() not in _KEYWORDS:
        raise DockerfileError(f"{shown}:{number}: {_short(keyword)} is not a Dockerfile instruction")
    texts = [rest.lstrip(), *(text for _, text in parts[1:])]
    starts = [0]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text))
    return Instruction(keyword.upper(), "".join(texts), tuple(starts), tuple(one for one, _ in parts))


def _split(text: str) -> tuple[str, str, str]:
    words = text.split(None, 1)
    return words[0], " ", words[1] if len(words) > 1 else ""


def _with_bodies(one: Instruction, lines: list[str], at: int, shown: str) -> tuple[Instruction, int]:
    """The instruction with its here-documents, and the line after them."""
    texts, starts, numbers = [one.text], list(one.starts), list(one.numbers)
    length = len(one.text)
    for strips, name in heredocs(one.text):
        while True:
            if at >= len(lines):
                raise DockerfileError(f"{shown}:{numbers[0]}: the here-document {_short(name)} has no end")
            line, at = lines[at], at + 1
            starts.append(length + 1)
            numbers.append(at)
            texts.append(line)
            length += 1 + len(line)
            if (line.lstrip("\t") if strips else line) == name:
                break
    return one._replace(text="\n".join(texts), starts=tuple(starts), numbers=tuple(numbers)), at


def heredocs(line: str) -> Iterator[tuple[bool, str]]:
    """The here-documents that a line opens: whether tabs before its lines go, and the word that ends it."""
    double = single = at = 0
    for found in _HEREDOC.finditer(line):
        double += line.count('"', at, found.start())
        single += line.count("'", at, found.start())
        at = found.end()
        if double % 2 == 0 and single % 2 == 0:
            yield found[1] == "-", found[3]


def _short(text: str) -> str:
    return repr(text[:40])
