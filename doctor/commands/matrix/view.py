"""What is shown of the matrix: tables of rows for a reader, and the same as sheets of text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compat.base.record import NamedTuple


class Table(NamedTuple):
    """Rows of one type, as they stand in the matrix."""

    name: str  # "torch.builds"
    rows: tuple[Any, ...]


class View(NamedTuple):
    """What answers one question about a product."""

    product: str
    name: str  # "" for the whole product
    as_of: str
    summary: tuple[str, ...]  # what follows from the rows, in sentences
    tables: tuple[Table, ...]


class Line(NamedTuple):
    """One row of a sheet."""

    cells: tuple[str, ...]
    source: str = ""
    note: str = ""
    label: str = ""  # names the line in its note; "" where the first cell does


class Sheet(NamedTuple):
    """A table of texts; the first cell of a line says what the line is about."""

    heading: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]


class Sources:
    """The sources of several sheets, numbered in the order in which they are first named."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, source: str) -> str:
        """The numbers of what a row's source names, "1, 4"."""
        parts = dict.fromkeys(part.strip() for part in source.split("; ") if part.strip())
        return ", ".join(str(self._numbers.setdefault(part, len(self._numbers) + 1)) for part in parts)

    def listing(self) -> tuple[tuple[int, str], ...]:
        """Every number with its source."""
        return tuple((number, source) for source, number in self._numbers.items())


def without_empty_columns(sheet: Sheet) -> Sheet:
    """The sheet without those columns that are empty in every line."""
    kept = [at for at in range(len(sheet.columns)) if at == 0 or any(line.cells[at] for line in sheet.lines)]
    return Sheet(
        sheet.heading,
        tuple(sheet.columns[at] for at in kept),
        tuple(line._replace(cells=tuple(line.cells[at] for at in kept)) for line in sheet.lines),
    )


def grid(sheet: Sheet, sources: Sources | None) -> list[tuple[str, ...]]:
    """The sheet's header and cells, with the numbers of the sources as the last column where they are wanted."""
    if sources is None or not any(line.source for line in sheet.lines):
        return [sheet.columns, *(line.cells for line in sheet.lines)]
    numbered = ((*line.cells, sources.numbers(line.source)) for line in sheet.lines)
    return [(*sheet.columns, "source"), *numbered]


def notes(sheets: Iterable[Sheet]) -> list[tuple[str, str]]:
    """The notes of all lines, each said once: the lines that share it, and the note."""
    told: dict[str, list[str]] = {}
    for sheet in sheets:
        for line in sheet.lines:
            if line.note:
                told.setdefault(line.note, []).append(line.label or line.cells[0])
    return [(", ".join(dict.fromkeys(names)), note) for note, names in told.items()]
