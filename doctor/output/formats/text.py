"""For people: plain text of 80 columns."""

from __future__ import annotations

from doctor.output.document import Document, Format, TextStyle


def render(document: Document, style: TextStyle) -> str:
    """Every document knows how it is told."""
    return document.text(style)


FORMAT = Format("for people, 80 columns", render, suffix=".txt")
