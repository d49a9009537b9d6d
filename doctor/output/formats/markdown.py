"""A page of Markdown; in a file, with its chart beside it."""

from __future__ import annotations

from typing import Protocol

from doctor.output.document import Format, TextStyle


class HasMarkdown(Protocol):
    """A document that is a page."""

    def markdown(self, style: TextStyle) -> str:
        """The page; `style.picture` is the file name of its chart, "" for none."""


def render(document: HasMarkdown, style: TextStyle) -> str:
    """The page as the document has it."""
    return document.markdown(style)


FORMAT = Format("a Markdown page", render, needs="markdown", picture="svg", suffix=".md")
