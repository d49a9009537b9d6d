"""The chart of a document as a picture."""

from __future__ import annotations

from typing import Protocol

from doctor.output.document import Format, TextStyle


class HasChart(Protocol):
    """A document that can be drawn."""

    def chart(self) -> str:
        """An SVG picture, light and dark."""


def render(document: HasChart, style: TextStyle) -> str:
    """The picture as the document draws it."""
    return document.chart()


FORMAT = Format("the chart, as a picture", render, needs="chart", suffix=".svg")
