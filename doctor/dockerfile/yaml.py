"""The part of YAML that compose files are written in: mappings, sequences, scalars, anchors, and the line of each.

What is beyond it (several documents, keys that are no scalars, tabs) is refused in one line. Every scalar is its text.
Sources: YAML 1.2.2, chapters 6 to 8; the merge key of YAML 1.1 (`<<`).
"""

from __future__ import annotations

import re
from typing import Union

from compat.record import NamedTuple
from doctor.dockerfile import DockerfileError

_LINES_AT_MOST, _DEEPEST, _MERGED_AT_MOST = 20_000, 50, 100_000
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},#&*!|>'"%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)""")
_PROPERTY = re.compile(r"([&!])(\S*)\s*")
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'""", re.DOTALL)
_FLOW = re.compile(r"""\s+|(?P<sign>[\[\]{},]|:(?=[\s,\[\]{}]|$))|(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')"""
                   r"""|(?P<plain>[^\s,\[\]{}][^,\[\]{}]*?(?=\s*(?:[,\[\]{}]|:\s|:?$)))""", re.DOTALL)  # fmt: skip
_NOTHING = {"", "~", "null"}


class Node(NamedTuple):
    """A value, and the line that it begins in."""

    value: Value
    line: int
    file: str = ""  # where it is not the one that was asked for

    @property
    def text(self) -> str:
        """Of a scalar, "" for anything else."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def items(self) -> list[Node]:
        """Of a sequence; a single scalar counts as one."""
        return self.value if isinstance(self.value, list) else [self] if isinstance(self.value, str) else []

    @property
    def fields(self) -> dict[str, Node]:
        """Of a mapping, none for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    def at(self, *names: str) -> Node | None:
        """What lies below these keys."""
        found: Node | None = self
        for name in names:
            found = found.fields.get(name) if found else None
        return found


Value = Union[None, str, list[Node], dict[str, Node]]


class _Line(NamedTuple):
    indent: int
    text: str  # without its indentation
    number: int


def parse_yaml(text: str, shown: str) -> Node:
    """One document; raises DockerfileError."""
    lines = re.split(r"^\.\.\.\s*$", text, maxsplit=1, flags=re.MULTILINE)[0].split("\n")
    if len(lines) > _LINES_AT_MOST:
        raise DockerfileError(f"{shown}: more than {_LINES_AT_MOST} lines")
    return _Reader(lines, shown).document()


class _Reader:
    """Reads lines from the first to the last."""

    def __init__(self, lines: list[str], shown: str) -> None:
        self._shown = shown
        self._lines = [
            _Line(len(line) - len(line.lstrip(" ")), line.strip(" \r"), number)
            for number, line in enumerate(lines, start=1)
        ]
        self._at = 0
        self._anchors: dict[str, Node] = {}
        self._merged = 0

    def _wrong(self, number: int, what: str) -> DockerfileError:
        return DockerfileError(f"{self._shown}:{number}: {what}")

    def document(self) -> Node:
        first = self._peek()
        if first and first.text.startswith("---"):
            self._at += 1
        found = self._block(-1, 0)
        last = self._peek()
        if last:
            raise self._wrong(last.number, f"{last.text[:40]!r} stands where nothing can")
        return found

    def _peek(self) -> _Line | None:
        """The next line that holds something."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text and not line.text.startswith("#"):
                if line.text.startswith("\t"):
                    raise self._wrong(line.number, "a tab, which YAML does not indent with")
                return line
            self._at += 1
        return None

    def _block(self, above: int, depth: int) -> Node:
        """What is indented more than that."""
        line = self._peek()
        if line is None or line.indent <= above or line.text.startswith("---"):
            return Node(None, line.number if line else len(self._lines))
        if depth > _DEEPEST:
            raise self._wrong(line.number, f"more than {_DEEPEST} levels")
        if line.text == "-" or line.text.startswith("- "):
            return self._sequence(line, depth)
        if _KEY.match(line.text):
            return self._mapping(line, depth)
        self._at += 1
        return self._value(line.text, line.number, above, depth)

    def _sequence(self, first: _Line, depth: int) -> Node:
        found: list[Node] = []
        while (line := self._peek()) and line.indent == first.indent and (line.text + " ").startswith("- "):
            rest = line.text[1:].lstrip()
            if rest and not rest.startswith("#") and (_KEY.match(rest) or rest.startswith("- ")):
                inner = line.indent + len(line.text) - len(rest)
                self._lines[self._at] = _Line(inner, rest, line.number)
                found.append(self._block(line.indent, depth + 1))
            else:
                self._at += 1
                found.append(self._value(rest, line.number, line.indent, depth))
        return Node(found, first.number)

    def _mapping(self, first: _Line, depth: int) -> Node:
        found: dict[str, Node] = {}
        merged: list[Node] = []
        while (line := self._peek()) and line.indent == first.indent:
            key = _KEY.match(line.text)
            if key is None:
                raise self._wrong(line.number, f"{line.text[:40]!r} is no KEY: VALUE")
            self._at += 1
            name, rest = _unquoted(key[1]), line.text[key.end() :].strip()
            value = self._value(rest, line.number, line.indent, depth, is_of_key=True)
            if name == "<<":
                merged += value.items if isinstance(value.value, list) else [value]
            else:
                found[name] = value
        for one in merged:
            self._merged += len(one.fields)
            if self._merged > _MERGED_AT_MOST:
                raise self._wrong(first.number, "merges without end")
            found = {**one.fields, **found}
        return Node(found, first.number)

    def _value(self, text: str, number: int, indent: int, depth: int, *, is_of_key: bool = False) -> Node:
        """What a key, a dash or a line is followed by."""
        anchor = ""
        while said := _PROPERTY.match(text):
            anchor = said[2] if said[1] == "&" else anchor
            text = text[said.end() :]
        found = self._bare(text, number, indent, depth, is_of_key=is_of_key)
        if anchor:
            self._anchors[anchor] = found
        return found

    def _bare(self, text: str, number: int, indent: int, depth: int, *, is_of_key: bool) -> Node:
        if text[:1] in {"|", ">"}:
            return Node(self._literal(indent), number)
        if text[:1] in {"[", "{"} or text[:1] in {'"', "'"}:
            return self._flow(text, number, indent)
        text = _COMMENT.sub("", text).strip()
        if text.startswith("*"):
            if text[1:] not in self._anchors:
                raise self._wrong(number, f"nothing is called {text[:40]}")
            return self._anchors[text[1:]]
        if text:
            while (line := self._peek()) and line.indent > indent:  # a plain scalar goes on
                if _KEY.match(line.text):
                    raise self._wrong(line.number, f"{line.text[:40]!r} is indented below a value")
                text += f" {_COMMENT.sub('', line.text).strip()}"
                self._at += 1
            return Node(None if text in _NOTHING else text, number)
        line = self._peek()
        if is_of_key and line and line.indent == indent and (line.text + " ").startswith("- "):
            return self._block(indent - 1, depth + 1)
        below = self._block(indent, depth + 1)
        return below if below.value is not None else Node(None, number)

    def _literal(self, indent: int) -> str:
        """The lines of a block scalar."""
        found = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text and line.indent <= indent:
                break
            found.append(" " * line.indent + line.text)
            self._at += 1
        least = min((len(one) - len(one.lstrip()) for one in found if one.strip()), default=0)
        return "\n".join(one[least:] for one in found).rstrip("\n") + "\n"

    def _flow(self, text: str, number: int, indent: int) -> Node:
        """Brackets, braces and quotes, which may go on in lines below."""
        while not _is_whole(text):
            line = self._peek()
            if line is None or (line.indent <= indent and line.text[:1] not in {"]", "}"}):
                raise self._wrong(number, "a bracket or a quote has no end")
            text += f" {line.text}"
            self._at += 1
        tokens = [one for one in _FLOW.finditer(text) if one.lastgroup]
        found, rest = self._flowing(tokens, 0, number, 0)
        if rest < len(tokens) and not tokens[rest][0].startswith("#"):
            raise self._wrong(number, f"{tokens[rest][0][:40]!r} stands where nothing can")
        return found

    def _flowing(self, tokens: list[re.Match[str]], at: int, number: int, depth: int) -> tuple[Node, int]:
        if at >= len(tokens) or depth > _DEEPEST:
            raise self._wrong(number, "brackets that make no sense")
        one = tokens[at]
        if one.lastgroup != "sign":
            text = one[0].strip()
            if text.startswith("*") and one.lastgroup == "plain" and text[1:] in self._anchors:
                return self._anchors[text[1:]], at + 1
            is_nothing = one.lastgroup == "plain" and text in _NOTHING
            return Node(None if is_nothing else _unquoted(text), number), at + 1
        closing = {"[": "]", "{": "}"}.get(one[0])
        if closing is None:
            raise self._wrong(number, f"{one[0]!r} stands where nothing can")
        listed: list[Node] = []
        named: dict[str, Node] = {}
        at += 1
        while at < len(tokens) and tokens[at][0] != closing:
            value, at = self._flowing(tokens, at, number, depth + 1)
            if at < len(tokens) and tokens[at][0] == ":":
                key = value.text
                value, at = self._flowing(tokens, at + 1, number, depth + 1)
                named[key] = value
            else:
                listed.append(value)
            if at < len(tokens) and tokens[at][0] == ",":
                at += 1
        if at >= len(tokens):
            raise self._wrong(number, "a bracket has no end")
        return Node(named if closing == "}" else listed or [Node({one: value}, number) for one, value in named.items()],
                    number), at + 1  # fmt: skip


def _is_whole(text: str) -> bool:
    """Whether every bracket and quote is closed."""
    bare = _QUOTED.sub("", text)
    if '"' in bare.partition("#")[0] or (bare[:1] == "'"):
        return False
    bare = _COMMENT.sub("", bare)
    return bare.count("[") <= bare.count("]") and bare.count("{") <= bare.count("}")


def _unquoted(text: str) -> str:
    if text[:1] == '"' and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    if text[:1] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    return text
