"""What `matrix list` and `matrix show` found, as every format takes it."""

from __future__ import annotations

from typing import Any

from compat.load import as_written
from doctor.commands.matrix.columns import UNKNOWN, text_of
from doctor.commands.matrix.shown import Shown
from doctor.model.encode import encode
from doctor.output.document import TextStyle

VIEW_SCHEMA = "gpudoctor.matrix-view/1"


class ViewDocument:
    """Rows; see `doctor.output.document.Document`."""

    indent = 1

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def plain(self) -> dict[str, Any]:
        """The rows as the tables spell them, every column with its source; a listing as its lines."""
        shown = self._shown
        if not shown.tables:
            (sheet,) = shown.sheets
            names = [column.replace(" ", "_") for column in sheet.columns]
            lines = [[int(cell) if cell.isdecimal() else cell for cell in line.cells] for line in sheet.lines]
            return {"schema": VIEW_SCHEMA, "products": [dict(zip(names, line, strict=True)) for line in lines]}
        return {
            "schema": VIEW_SCHEMA,
            "product": shown.product,
            "name": shown.name,
            "as_of": shown.as_of,
            "summary": list(shown.summary),
            "tables": {table.name: [_row(row) for row in table.rows] for table in shown.tables},
        }

    def text(self, style: TextStyle) -> str:
        """Aligned tables, with notes and numbered sources below."""
        from doctor.commands.matrix.view_text import render

        return render(self._shown, style)

    def markdown(self, style: TextStyle) -> str:
        """Tables, with notes and numbered sources below."""
        from doctor.commands.matrix.view_markdown import render

        return render(self._shown)

    def rows(self) -> list[tuple[str, ...]]:
        """The columns of every table; the first says which table a row is of. The unknown is "?"."""
        if not self._shown.tables:
            (sheet,) = self._shown.sheets
            return [sheet.columns, *(line.cells for line in sheet.lines)]
        tables = self._shown.tables
        names = tuple(dict.fromkeys(name for table in tables for name in table.rows[0]._fields))
        rows = [
            (table.name, *(text_of(getattr(row, name)) if name in row._fields else "" for name in names))
            for table in tables
            for row in table.rows
        ]
        return [("table", *names), *rows]


def _row(row: Any) -> dict[str, Any]:
    columns = zip(row._fields, row, strict=True)
    return as_written(row, {name: dict(value) if isinstance(value, dict) else encode(value) for name, value in columns})


class UncoveredDocument:
    """That no row covers what was asked for; see `doctor.output.document.Document`."""

    indent = 1

    def __init__(self, product: str, name: str, why: str) -> None:
        self._product, self._name, self._why = product, name, why

    def plain(self) -> dict[str, Any]:
        """What was asked for, and why there is no answer."""
        return {"schema": VIEW_SCHEMA, "product": self._product, "name": self._name, "uncovered": self._why}

    def text(self, style: TextStyle) -> str:
        """One sentence."""
        return self._why + "\n"

    def markdown(self, style: TextStyle) -> str:
        """One sentence."""
        return self._why + "\n"

    def rows(self) -> list[tuple[str, ...]]:
        """A table of one row."""
        return [("table", "uncovered"), (self._product, self._why or UNKNOWN)]
