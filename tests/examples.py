"""The examples of CONTRIBUTING.md: the code that stands below each path."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_EXAMPLE = re.compile(r"^`([\w./-]+)`(?: \(([^)\n]+)\))?\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """One fenced block."""

    section: str  # the heading above it
    path: str
    place: str  # where in a file that exists it goes, "" for a file of its own
    text: str


@cache
def examples() -> tuple[Example, ...]:
    """Return all of them, in their order."""
    found = []
    for part in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        found += [Example(part.partition("\n")[0], *match.groups(default="")) for match in _EXAMPLE.finditer(part)]
    return tuple(found)


def example(path: str) -> str:
    """Return the text of one."""
    [text] = [one.text for one in examples() if one.path == path]
    return text
