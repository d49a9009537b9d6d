"""Variables of a Dockerfile put into a text, as the builder does; what is not known stays, marked.

Source: the Dockerfile reference, "Environment replacement".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

VALUE_AT_MOST_CHARS = 128 << 10  # Linux passes no longer variable

_NESTED_AT_MOST = 4
OPEN = "\0"  # stands on both sides of the name of a variable that is not known; no file that is read holds it
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+?])([^{}]*))?\}|\{([^{}]*)\})")


def is_open(text: str) -> bool:
    """Whether the text depends on a variable that is not known."""
    return OPEN in text


def shown(text: str) -> str:
    """The text as a Dockerfile has it, `${NAME}` for what is not known."""
    return re.sub(rf"{OPEN}([^{OPEN}]*){OPEN}", r"${\1}", text)


def expand(text: str, known: Mapping[str, str]) -> str:
    """Put the values in; `known` has those that are known. Braces within braces are put in from the inside."""
    for _ in range(_NESTED_AT_MOST):
        made = _once(text, known)
        if made == text:
            break
        text = made
    return text


def _once(text: str, known: Mapping[str, str]) -> str:
    left = VALUE_AT_MOST_CHARS

    def value(found: re.Match[str]) -> str:
        nonlocal left
        said = _value(found, known)
        left -= len(said)
        return said if left >= 0 else ""

    made = _VARIABLE.sub(value, text) if "$" in text else text
    return made if left >= 0 else f"{OPEN}a value too long{OPEN}"


def _value(found: re.Match[str], known: Mapping[str, str]) -> str:
    name, sign, word = found[1] or found[2], found[3] or "", found[4] or ""
    if not name:
        return f"{OPEN}{found[5]}{OPEN}"
    said = known.get(name)
    if said is None or is_missing(said):
        return word if sign.endswith("-") and said is not None else f"{OPEN}{name}{OPEN}"
    if sign == ":-" and not said:
        return word
    if sign.endswith("+"):
        return word if said else ""
    return said


def is_missing(value: str) -> bool:
    """Whether nobody gave it a value: an ARG without a default."""
    return value.startswith(OPEN) and value.endswith(OPEN) and value.count(OPEN) == 2


class OpenQuote(ValueError):
    """A quote that its instruction does not close. Source: moby/buildkit, frontend/dockerfile/shell/lex.go."""


def words(text: str, escape: str) -> list[tuple[int, str]]:
    """The words of ENV, ARG, FROM and COPY: offset, and text without quotes.

    A dollar sign in single quotes, or escaped, is LITERAL. Raises OpenQuote.
    """
    found: list[tuple[int, str]] = []
    at, begun, quote = 0, -1, ""
    made: list[str] = []
    while at < len(text):
        one = text[at]
        if not quote and one in " \t\n":
            if begun >= 0:
                found.append((begun, "".join(made)))
            begun, made = -1, []
        else:
            begun = at if begun < 0 else begun
            if one == escape and quote != "'" and at + 1 < len(text):
                at += 1
                made.append(LITERAL if text[at] == "$" else text[at])
            elif one == quote or (not quote and one in "'\""):
                quote = "" if quote else one
            else:
                made.append(LITERAL if quote == "'" and one == "$" else one)
        at += 1
    if quote:
        raise OpenQuote(f"{quote} has no end, which ends the build")
    if begun >= 0:
        found.append((begun, "".join(made)))
    return found


LITERAL = "\1"  # a dollar sign that stands for itself
