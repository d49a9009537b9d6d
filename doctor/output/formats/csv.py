"""One comma-separated table."""

from __future__ import annotations

from typing import Protocol

from doctor.output.document import Format, TextStyle


class HasRows(Protocol):
    """A document that is a table."""

    def rows(self) -> list[tuple[str, ...]]:
        """Its cells; the first row is the header."""


def render(document: HasRows, style: TextStyle) -> str:
    """All rows under one header."""
    import csv  # late: `--help` loads this module, too
    import io

    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(document.rows())
    return out.getvalue()


FORMAT = Format("one comma-separated table", render, needs="rows", suffix=".csv")
