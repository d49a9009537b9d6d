"""The pages of the finding codes: why, how it is judged, what fixes it. They ship inside the package."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache

from compat.base.choice import one_of

_HERE = os.path.dirname(os.path.abspath(__file__))
# In a wheel they lie beside this file; in a clone in docs/rules.
_FOLDERS = (os.path.join(_HERE, "pages"), os.path.join(_HERE, "..", "..", "docs", "rules"))
_ITALICS = re.compile(r"^\*([^*\n]+)\*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


@cache
def codes() -> tuple[str, ...]:
    """Every code that has a page, sorted."""
    return tuple(sorted(name[:-3] for name in os.listdir(_folder()) if name.endswith(".md") and name != "README.md"))


def page(code: str) -> str:
    """The page as it was written, Markdown; raises NoSuchName with what is alike."""
    with open(os.path.join(_folder(), f"{one_of('code', code, codes())}.md"), encoding="utf-8") as file:
        return file.read()


def title(code: str) -> str:
    """What the code says, in one line: the line in italics under the heading of its page."""
    return page(code).split("\n", 3)[2].strip("*").rstrip(".")


def listing(wanted: Iterable[str]) -> str:
    """A line for each code: the code and its title."""
    rows = [(code, title(code)) for code in wanted]
    width = max((len(code) for code, _ in rows), default=0)
    return "".join(f"{code.ljust(width)}  {said}\n" for code, said in rows)


def mends(code: str) -> str:
    """The paragraphs that say what fixes it, "" where the code has no page."""
    if code not in codes():
        return ""
    _, found, rest = _plain(page(code)).partition("How to fix it. ")
    return rest.partition("\n| ")[0].strip() if found else ""


def found(words: str) -> tuple[str, ...]:
    """The codes whose pages hold all of the words."""
    wanted = words.lower().split()
    pages = {code: f"{code} {page(code)}".lower() for code in codes()}
    return tuple(code for code, held in pages.items() if all(word in held for word in wanted))


def _folder() -> str:
    return next((folder for folder in _FOLDERS if os.path.isdir(folder)), _FOLDERS[0])


def _plain(markdown: str) -> str:
    """For a terminal: the address of a link after its text, no marks of bold."""
    bare = _LINK.sub(lambda one: one[1] if one[2].endswith(".md") else f"{one[1]} ({one[2]})", markdown)
    return _ITALICS.sub(r"\1", bare.replace("**", ""), count=1)


def text(code: str) -> str:
    """The page for a terminal."""
    return _plain(page(code)).removeprefix("# ")
