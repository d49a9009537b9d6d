"""The commands of a RUN line: simple commands with their words, as far as they can be told without running a shell.

Source: POSIX.1-2017, Shell Command Language (quoting, tokens, here-documents).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compat.base.record import NamedTuple
from doctor.host.documents import parse_json
from doctor.script.expand import OPEN, expand
from doctor.script.parse import heredocs

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\\\n)|(?P<comment>(?<![^\s;&|(])#[^\n]*)|(?P<redirect>\d*(?:<<<|<<-?|>>|<>|>\||&>>?|[<>])&?)"
    r"|(?P<end>&&|\|\||;;|[;\n|&()])|(?P<single>'[^']*'?)|(?P<double>\"(?:[^\"\\]|\\.)*\"?)|(?P<escaped>\\.)"
    r"|(?P<call>\$\(+[^()]*(?:\([^()]*\)[^()]*)*\)+|`[^`]*`?)|(?P<variable>\$(?:\{[^{}]*\}|\w+))|(?P<plain>[^\s;&|()<>'\"\\$`]+|.)",
    re.DOTALL,
)
_ASSIGNS = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OPENS, _CLOSES = frozenset({"if", "for", "while", "until", "case"}), frozenset({"fi", "done", "esac"})
_PASSED = frozenset({"then", "else", "do", "!", "{", "}", "elif", "sudo", "exec", "time", "nice"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh"})
_DEEPEST = 3


class Word(NamedTuple):
    """One word of a command; what depends on an unknown variable is open (expand.is_open)."""

    text: str
    at: int  # offset in the instruction's text


class Call(NamedTuple):
    """A simple command."""

    words: tuple[Word, ...]  # the program first
    given: Mapping[str, str]  # variables that stand before it
    may_not_run: bool  # it stands in a condition or a loop, or after ||
    may_fail: bool  # || follows
    writes: Word | None = None  # the file that its output goes to
    appends: bool = False  # whether it is added to what is there
    text: str | None = None  # the here-document that it reads
    text_at: int = 0  # where that begins in the instruction
    sign: str = ""  # what follows it: "&&", ";", "|", "" at the end

    @property
    def program(self) -> str:
        """Its name without the directory."""
        return self.words[0].text.rpartition("/")[2]


def calls(text: str, known: Mapping[str, str]) -> Iterator[Call]:
    """The commands of what follows RUN and its flags; `known` are the variables that it is run with."""
    if text.lstrip().startswith("["):
        try:
            said = parse_json(text)
        except ValueError:
            said = None
        if isinstance(said, list) and said and all(isinstance(one, str) for one in said):
            yield Call(tuple(Word(one, 0) for one in said), {}, may_not_run=False, may_fail=False)
            return
    for call in _Reader(text, 0, dict(known), 0).calls():
        yield from _inner(call, known)


def _inner(call: Call, known: Mapping[str, str]) -> Iterator[Call]:
    """The commands of `bash -c "..."` in place of the shell that runs them."""
    given = [number for number, one in enumerate(call.words[:-1]) if re.fullmatch(r"-[a-z]*c", one.text)]
    if call.program not in _SHELLS or not given:
        yield call
        return
    script = call.words[given[0] + 1]
    for one in _Reader(script.text, script.at, {**known, **call.given}, 1).calls():
        yield one._replace(may_not_run=one.may_not_run or call.may_not_run, may_fail=one.may_fail or call.may_fail)


class _Reader:
    """Reads one script; variables that it sets count from then on."""

    def __init__(self, text: str, offset: int, known: dict[str, str], depth: int) -> None:
        self._text, self._offset, self._known, self._level = text, offset, known, depth
        self._words: list[Word] = []
        self._begun = -1
        self._made: list[str] = []
        self._in_quotes = False
        self._depth = 0  # of conditions and loops
        self._after_or = False
        self._line_at = 0
        self._redirect = ""
        self._writes: Word | None = None
        self._appends = False

    def calls(self) -> Iterator[Call]:
        at = 0
        skips = False  # what follows a redirection is its file
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                break  # no character is left out: it matches any
            kind, said = str(found.lastgroup), found[0]
            if kind in {"blank", "comment", "redirect", "end"}:
                skips = self._word_ends(skips=skips) or kind == "redirect"
            if kind == "redirect":
                self._redirect = said
                skips = True
            if kind == "end":
                ended = self._command(said)
                at = found.end()
                if said == "\n":
                    bodies, at = self._bodies(at)
                    yield from self._of_bodies(ended, bodies)
                    self._line_at = at
                    if ended is not None and bodies:
                        begun, end = bodies[0]
                        ended = ended._replace(text=self._text[begun:end], text_at=self._offset + begun)
                if ended is not None:
                    yield ended
                continue
            if kind not in {"blank", "comment", "redirect"}:
                self._begun = at if self._begun < 0 else self._begun
                self._made.append(self._value(kind, said))
            at = found.end()
        self._word_ends(skips=skips)
        last = self._command("")
        if last is not None:
            yield last

    def _value(self, kind: str, said: str) -> str:
        if kind == "single":
            return said.strip("'")
        if kind == "double":
            inner = re.sub(r"\$\([^)]*\)|`[^`]*`", f"{OPEN}a command{OPEN}", said[1:].removesuffix('"'))
            return expand(re.sub(r'\\(["\\`\n])', r"\1", inner), self._known)
        if kind == "escaped":
            return said[1]
        if kind == "call":
            return f"{OPEN}a command{OPEN}"
        return expand(said, self._known) if kind == "variable" else said

    def _word_ends(self, *, skips: bool) -> bool:
        """Take the word that was being read; whether the file of a redirection is still to come."""
        if self._begun < 0:
            return skips
        word = Word("".join(self._made), self._offset + self._begun)
        if not skips:
            self._words.append(word)
        elif self._redirect in {">", ">>", ">|", "1>"}:
            self._writes, self._appends = word, self._redirect == ">>"
        self._begun, self._made = -1, []
        return False

    def _command(self, sign: str) -> Call | None:
        words, self._words = self._words, []
        writes, self._writes = self._writes, None
        given: dict[str, str] = {}
        while words:
            text = words[0].text
            if text in _OPENS:
                self._depth += 1
            elif text in _CLOSES:
                self._depth = max(0, self._depth - 1)
            elif found := _ASSIGNS.fullmatch(text):
                given[found[1]] = found[2]
            elif text not in _PASSED and not (text.startswith("-") and text != "-"):
                break
            words = words[1:]
        may_not_run = self._depth > 0 or self._after_or
        self._after_or = sign == "||"
        if not words:
            for name, value in given.items():
                self._known[name] = f"{OPEN}{name}{OPEN}" if may_not_run else value
            return None
        if words[0].text in {"env", "export"}:
            return self._exported(words, given, may_not_run=may_not_run, may_fail=sign == "||")
        made = Call(tuple(words), given, may_not_run, may_fail=sign == "||")
        return made._replace(writes=writes, appends=self._appends, sign=sign)

    def _exported(self, words: list[Word], given: dict[str, str], *, may_not_run: bool, may_fail: bool) -> Call | None:
        """`env A=b COMMAND` is the command, `export A=b` stays a command and counts."""
        is_env = words[0].text == "env"
        rest = list(words[1:])
        while rest and (found := _ASSIGNS.fullmatch(rest[0].text)):
            given[found[1]] = found[2]
            rest = rest[1:]
        if not is_env:
            self._known.update(given)
            rest = words
        return Call(tuple(rest), given, may_not_run, may_fail) if rest else None

    def _bodies(self, at: int) -> tuple[list[tuple[int, int]], int]:
        """Where the here-documents of the line before lie, and where the script goes on."""
        found = []
        for strips, name in heredocs(self._text[self._line_at : at - 1]):
            begun = at
            while at < len(self._text):
                end = self._text.find("\n", at)
                line, following = (self._text[at:], len(self._text)) if end < 0 else (self._text[at:end], end + 1)
                if (line.lstrip("\t") if strips else line) == name:
                    found.append((begun, at))
                    at = following
                    break
                at = following
        return found, at

    def _of_bodies(self, reader: Call | None, bodies: list[tuple[int, int]]) -> Iterator[Call]:
        """A here-document without a command, or of a shell, is a script."""
        is_script = reader is None or (reader.program in _SHELLS and not reader.may_not_run)
        for begun, end in bodies if is_script and self._level < _DEEPEST else ():
            inner = _Reader(self._text[begun:end], self._offset + begun, dict(self._known), self._level + 1)
            yield from inner.calls()
