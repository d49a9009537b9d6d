"""For people: plain text as wide as the terminal, at most 100 columns."""

from __future__ import annotations

from doctor.output.document import Document, Format, TextStyle


def render(document: Document, style: TextStyle) -> str:
    """Return the text of a document."""
    return document.text(style)


FORMAT = Format("for people", render, suffix=".txt")
