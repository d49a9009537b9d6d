"""What a format of the view gets, and where formats are found: one file each in `doctor/matrix_view/formats/`."""

from __future__ import annotations

from collections.abc import Callable

from compat.discover import load_one, names_in
from compat.record import NamedTuple
from compat.row import FrameworkRow
from doctor.choice import one_of
from doctor.matrix_view.sheets import pins_sheet, sheet_of
from doctor.matrix_view.view import Sheet, Table, View


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


class ViewFormat:
    """Turns a view into text, or says in its own way that no row covers what was asked for."""

    __slots__ = ("render", "uncovered")

    def __init__(self, render: Callable[[Shown], str], uncovered: Callable[[str, str, str], str]) -> None:
        """`uncovered` takes product, name and the sentence."""
        self.render = render
        self.uncovered = uncovered


def format_of(name: str) -> ViewFormat:
    """The format of this name; raises NoSuchName."""
    from doctor.matrix_view import formats

    return load_one(formats, one_of("format", name, names_in(formats)), "FORMAT", ViewFormat)
