"""Passwords in command lines: by the options of each program, for a line of text and for a list of words.

An option stands as its program reads it, with what follows: nothing (`-p X`, `-pX`, `--password=X`), "!" where the
value is glued to it only (`mysql -pX`; `-p X` asks for the password), or the sign between an account and its password
(`curl -u user:X`). "#2" is the second word that is no option. Sources: the manual page of each program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from compat.base.paths import text_beside
from compat.base.record import NamedTuple

HIDDEN = "<secret>"
_LOGIN = ("-p",)  # of `docker login` and its kind: elsewhere -p is a port
_TABLES = json.loads(text_beside(__file__, "private_commands.json"))
_NEED_LOGIN = frozenset(_TABLES["need_login"])
_OPTIONS: dict[str, tuple[str, ...]] = {
    **{name: tuple(row["options"]) for row in _TABLES["programs"] for name in row["programs"].split()},
    **dict.fromkeys(_TABLES["need_login"], _LOGIN),
}
_SPLIT_SIGNS = frozenset(":%,")
_FIRST_WORDS = 6  # of a list, among which the program stands: sudo, env A=b
_KNOWN = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, _OPTIONS))})(?:\.exe)?[ \t]")
_PIECES = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|\"']+(?:\"[^\"\n]*\"|'[^'\n]*')?|[;&|\n]+|[ \t]+|.", re.DOTALL)


class _Option(NamedTuple):
    """An option of the program that is read."""

    name: str
    sign: str  # "", "!" or the one between account and password


class _Reader:
    """The words of one command line, one by one."""

    def __init__(self) -> None:
        self._options: tuple[_Option, ...] = ()
        self._place = 0  # of the word that is a password, among those that are no options
        self._seen = 0
        self._waits: _Option | None = None
        self._needs_login = self._has_option = False

    def word(self, word: str) -> str:
        """The word as it can be shown."""
        program = word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        if self._waits:
            sign, self._waits = self._waits.sign, None
            return _hidden(word, sign)
        if program in _OPTIONS and not word.startswith("-"):
            self._begin(program)
            return word
        if self._needs_login:
            self._needs_login = word != "login"
            return word
        return self._further(word)

    def _begin(self, program: str) -> None:
        wanted = _OPTIONS[program]
        self._place = next((int(one[1:]) for one in wanted if one[0] == "#"), 0)
        self._seen, self._needs_login, self._has_option = 0, program in _NEED_LOGIN, False
        self._options = tuple(_option(one) for one in wanted if one[0] != "#")

    def _further(self, word: str) -> str:
        if not word.startswith(("-", "/p:")):
            if self._seen == 0 and not self._has_option and not word.strip("\"'").startswith(("//", "\\\\")):
                self._place = 0  # a sentence: smbclient 4.15 is installed
            self._seen += 1
            return HIDDEN if self._seen == self._place else word
        self._has_option = True
        for option in self._options:
            name, sign = option
            is_short = len(name) == 2 and sign in _SPLIT_SIGNS
            if sign != "!" and (word == name or (is_short and re.fullmatch(rf"-[A-Za-z]{{1,8}}{name[1]}", word))):
                self._waits = option
                return word
            glued = word[len(name) :] if word.startswith(name) and not word.startswith("--") else ""
            value = word[len(name) + 1 :] if word.startswith(f"{name}=") else glued
            if value and (len(name) == 2 or word[len(name)] == "=" or sign == "!"):
                return word[: len(word) - len(value)] + _hidden(value, sign)
        return word


def _option(text: str) -> _Option:
    return _Option(text[:-1], text[-1]) if text[-1] in {*_SPLIT_SIGNS, "!"} else _Option(text, "")


def _hidden(word: str, sign: str) -> str:
    if sign not in _SPLIT_SIGNS:
        return HIDDEN
    quote = word[0] if word[:1] in "\"'" else ""
    user, found, password = word.strip("\"'").partition(sign)
    return f"{quote}{user}{sign}{HIDDEN}{quote}" if found and password else word


def without_passwords(text: str) -> str:
    """Return a text in which no known program is given a password by its options."""
    if not _KNOWN.search(text):
        return text
    return "".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    reader = _Reader()
    for match in _PIECES.finditer(text):
        piece = match[0]
        if piece[0] in ";&|\n":
            reader = _Reader()
            yield piece
        else:
            yield piece if piece.isspace() else reader.word(piece)


def words_without_passwords(words: Sequence[str]) -> Sequence[str]:
    """Return the words of one command without the password that a known program is given."""
    if words[:1] and words[0].rpartition("/")[2] in {"net", "net.exe"} and "use" in words[1:2]:
        return _of_net_use(words)
    if not any(one.rpartition("/")[2] in _OPTIONS for one in words[:_FIRST_WORDS]):
        return words
    reader = _Reader()
    return tuple(reader.word(one) for one in words)


def _of_net_use(words: Sequence[str]) -> Sequence[str]:
    r"""Of `net use [Z:] \\host\share password /user:x`."""
    share = next((at for at, one in enumerate(words) if one.startswith("\\\\")), len(words))
    return tuple(HIDDEN if at > share and one[:1] not in {"/", "*"} else one for at, one in enumerate(words))
