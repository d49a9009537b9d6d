"""A view and its sheets."""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.row import FrameworkRow
from doctor.commands.matrix.columns import pins_sheet, sheet_of
from doctor.commands.matrix.view import Sheet, Table, View


class Shown(NamedTuple):
    """A view and its sheets; the sheets alone are for readers, the tables for programs."""

    product: str
    name: str
    as_of: str
    summary: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    tables: tuple[Table, ...]

    @classmethod
    def of(cls, view: View) -> Shown:
        """The view with its sheets."""
        sheets = [sheet_of(table) for table in view.tables]
        if view.name and isinstance(view.tables[0].rows[0], FrameworkRow):
            pins = pins_sheet(view.tables[0].rows)
            sheets.extend([pins] if pins else [])
        return cls(view.product, view.name, view.as_of, view.summary, tuple(sheets), view.tables)
