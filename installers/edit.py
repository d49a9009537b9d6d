"""Merge settings into a text file: what stands there stays, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from installers.steps.edit_text import EditText

_SECTION = re.compile(r"\s*\[(?P<name>[^\]]*)\]\s*(?:[#;].*)?$")


def merged(text: str, step: EditText) -> str:
    """The text with the settings and lines of the step in its section; its line ends stay."""
    end = "\r\n" if "\r\n" in text else "\n"
    rows = text.replace("\r\n", "\n").split("\n")
    if rows[-1] == "":
        rows.pop()
    begin, stop = _extent(rows, step.section)
    body = rows[begin:stop]
    for key, value in step.settings:
        body = _set(body, key, value, once=key in step.once)
    body = _add(body, [line for line in step.lines if line not in body])
    return end.join((*rows[:begin], *body, *rows[stop:], ""))


def _extent(rows: list[str], section: str) -> tuple[int, int]:
    """Where the section's lines begin and stop; a section that is missing is begun at the end of the rows."""
    heads = [(number, match["name"]) for number, row in enumerate(rows) if (match := _SECTION.match(row))]
    if not section:
        return 0, heads[0][0] if heads else len(rows)
    begin = next((number + 1 for number, name in heads if name == section), None)
    if begin is None:
        rows.extend(["", f"[{section}]"] if rows else [f"[{section}]"])
        return len(rows), len(rows)
    return begin, next((number for number, _ in heads if number >= begin), len(rows))


def _set(body: list[str], key: str, value: str, *, once: bool) -> list[str]:
    """The last line of a key is the one that counts in most readers, so that one gets the value."""
    setting = re.compile(rf"\s*{re.escape(key)}\s*[=:]", re.IGNORECASE)  # ConfigParser reads names in any case
    found = [number for number, row in enumerate(body) if setting.match(row)]
    if not found:
        return _add(body, [f"{key} = {value}"])
    gone = {below for number in found if once or number == found[-1] for below in _continued(body, number)}
    gone.update(found[:-1] if once else ())
    old = body[found[-1]]
    indent = old[: len(old) - len(old.lstrip())]  # without it, an indented line below would go on with this one
    rows = [*body[: found[-1]], f"{indent}{key} = {value}", *body[found[-1] + 1 :]]
    return [row for number, row in enumerate(rows) if number not in gone]


def _continued(body: list[str], number: int) -> Iterator[int]:
    """The indented lines that go on with a value."""
    if body[number][:1] in {" ", "\t"}:
        return
    for below in range(number + 1, len(body)):
        if body[below][:1] not in {" ", "\t"} or not body[below].strip():
            return
        yield below


def _add(body: list[str], new: list[str]) -> list[str]:
    """At the end, before the blank lines that part one section from the next."""
    stop = len(body)
    while stop and not body[stop - 1].strip():
        stop -= 1
    return [*body[:stop], *new, *body[stop:]]
