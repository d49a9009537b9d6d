"""TOML, JSON and INI files that other people wrote: their size and depth are bounded before they are parsed.

A key of 20,000 dotted parts makes tomllib take gigabytes; a value of JSON that is nested 900 times is parsed, and then
ends whoever prints it; configparser takes hours for a long line of blanks. No such file is in use anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from configparser import RawConfigParser

_DEEPEST = 100  # brackets within brackets
_PARTS_AT_MOST = 32  # of one key of TOML
_DOTS_AT_MOST = 10_000  # of all keys of a file
_TOML_AT_MOST = 256 << 10  # characters
_INI_AT_MOST, _LINE_AT_MOST = 1 << 20, 4096  # characters
# A string without an end reaches to the end of the text or line: no sign is looked at twice.
_JSON_STRING = re.compile(r'"[^"\\]*(?:\\(?:.|\Z)[^"\\]*)*(?:"|\Z)', re.DOTALL)
_TOML_TEXT = re.compile(
    r'"""[^"\\]*(?:(?:\\(?:.|\Z)|"{1,2}(?!"))[^"\\]*)*(?:"{3,5}|\Z)'
    r"|'''[^']*(?:'{1,2}(?!')[^']*)*(?:'{3,5}|\Z)"
    r'|"[^"\\\n]*(?:\\(?:[^\n]|\Z)[^"\\\n]*)*(?:"|(?=\n)|\\|\Z)'
    r"|'[^'\n]*'?|#[^\n]*",
    re.DOTALL,
)


def parse_toml(text: str, at_most: int = _TOML_AT_MOST) -> dict[str, Any]:
    """Parse a text of TOML; raises ValueError for what is none, and for what is too large or too deep."""
    if sys.version_info >= (3, 11):
        import tomllib  # late, as every reader here: most machines have no such file
    else:
        import tomli as tomllib
    if len(text) > at_most:
        raise ValueError(f"more than {at_most} characters")
    bare = _TOML_TEXT.sub("x", text)
    _refuse_deep(bare)
    dots = [key.count(".") for key in re.split(r"[=,{}\[\]\n]", bare)]
    if max(dots) >= _PARTS_AT_MOST or sum(dots) > _DOTS_AT_MOST:
        raise ValueError(f"a key has more than {_PARTS_AT_MOST} parts, or all have more than {_DOTS_AT_MOST}")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_json(text: str | bytes) -> Any:
    """Parse a text of JSON; raises ValueError for what is none, and for what is too deep."""
    import json

    text = text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    if text.count("[") + text.count("{") > _DEEPEST:
        _refuse_deep(_JSON_STRING.sub("", text))
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_ini(text: str, name: str) -> RawConfigParser:
    """Parse a text as Python's own configparser does; raises ValueError for what is none, and for what is too large."""
    import configparser

    if len(text) > _INI_AT_MOST or any(len(line) > _LINE_AT_MOST for line in text.split("\n")):
        raise ValueError(f"{name} has more than {_INI_AT_MOST} characters, or more than {_LINE_AT_MOST} in a line")
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text, name)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return parser


def _refuse_deep(bare: str) -> None:
    """Raise ValueError for brackets within too many brackets; `bare` holds no strings."""
    if deepest(re.findall(r"[\[\]{}]", bare)) > _DEEPEST:
        raise ValueError("nested too deeply")


def deepest(brackets: Iterable[str]) -> int:
    """Return how many brackets are open at once, at most."""
    most = depth = 0
    for one in brackets:
        depth += 1 if one in "[{" else -1
        most = max(most, depth)
    return most
