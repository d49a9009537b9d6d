"""One output format a file, for every command that reports; its module holds `FORMAT`.

A command makes a `Document` of what it found. A format needs no more of it than what every document has, or names the
view that it does need: it then serves the commands whose documents have that view. See CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from compat.base.record import NamedTuple

NARROWEST, USUAL_WIDTH, WIDEST = 40, 80, 100  # columns of a text


class TextStyle(NamedTuple):
    """How a text may look where it goes."""

    colour: bool = False  # ANSI escapes
    symbols: bool = True  # characters beyond ASCII
    picture: str = ""  # the file beside it, "" for none
    width: int = USUAL_WIDTH  # columns of a line
    table_width: int = 0  # columns of a table, 0 for any number
    links: bool = False  # hyperlinks (OSC 8)


class Document(Protocol):
    """What a command reports, before it has a form.

    Some have further views, which formats ask for by name: `findings` (doctor.output.finding_views), `rows` (of texts,
    for one table), `markdown` and `chart` (texts).
    """

    indent: int  # of its JSON

    def plain(self) -> dict[str, Any]:
        """All of it as its JSON Schema has it."""

    def text(self, style: TextStyle) -> str:
        """All of it for people."""


class Format:
    """Turns documents into text."""

    __slots__ = ("needs", "picture", "render", "suffix", "title")

    def __init__(
        self,
        title: str,
        render: Callable[[Any, TextStyle], str],
        *,
        needs: str = "",
        picture: str = "",
        suffix: str = "",
    ) -> None:
        """`needs`: the view of a document that it is made of, "" for what every document has.

        `picture`: the format of the file that is written beside it, where the document has a chart.
        `suffix`: that of the files that are usually of this format, "" for none.
        """
        self.title = title
        self.render = render
        self.needs = needs
        self.picture = picture
        self.suffix = suffix
