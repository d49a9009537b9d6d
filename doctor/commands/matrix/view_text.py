"""Aligned tables for a terminal, with notes and numbered sources below."""

from __future__ import annotations

from doctor.commands.matrix.shown import Shown
from doctor.commands.matrix.view import Sheet, Sources, grid, notes
from doctor.output.document import TextStyle
from doctor.output.page import clean, wrap

# A table of more lines is an overview: its notes and sources would drown it.
_OVERVIEW = 60
_LEAST_LAST = 24  # columns in which the last cell of a line can be wrapped


def render(shown: Shown, style: TextStyle) -> str:
    """Return the tables, with notes and sources unless it is an overview."""
    overview = not shown.name and sum(len(sheet.lines) for sheet in shown.sheets) > _OVERVIEW
    sources = None if overview or not shown.product else Sources()
    blocks = [*(wrap_text(text, style.width) for text in shown.summary)]
    blocks.extend(_block(sheet, sources, style.table_width, titled=bool(shown.product)) for sheet in shown.sheets)
    if sources is not None:
        blocks.extend(_below(shown, sources, style.width))
    elif overview:
        named = f"gpudoctor matrix show {shown.product or 'PRODUCT'} NAME, or --format markdown."
        as_of = f" Rows as of {shown.as_of}." if shown.as_of else ""
        blocks.append(f"Notes and sources: {named}{as_of}")
    return "\n\n".join(blocks) + "\n"


def _block(sheet: Sheet, sources: Sources | None, width: int, *, titled: bool) -> str:
    lines = fitted(grid(sheet, sources), width - 2 * titled if width else 0)
    return "\n".join([sheet.heading, *("  " + line for line in lines)] if titled else lines)


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of cells as lines, columns aligned, two blanks between them."""
    cleaned = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cleaned, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cleaned]


def fitted(rows: list[tuple[str, ...]], width: int) -> list[str]:
    """Return rows as lines of at most `width` columns (0: any): a table, or else one paragraph for each row."""
    lines = aligned(rows)
    if not width or max(map(len, lines)) <= width:
        return lines
    heads = aligned([row[:-1] for row in rows])
    left = width - max(map(len, heads)) - 2
    if left >= _LEAST_LAST:
        return [
            line for head, row in zip(heads, rows, strict=True) for line in _beside(head, row[-1], width - left, left)
        ]
    names, *body = rows
    return [line for row in body for line in _one_by_one(names, row, width)]


def _beside(head: str, last: str, begin: int, left: int) -> list[str]:
    first, *rest = wrap(last, left)
    return [f"{head.ljust(begin)}{first}".rstrip(), *(" " * begin + line for line in rest)]


def _one_by_one(names: tuple[str, ...], row: tuple[str, ...], width: int) -> list[str]:
    """The first cell, then what the others are called and hold."""
    cells = "; ".join(f"{name}: {cell}" for name, cell in zip(names[1:], row[1:], strict=True) if cell)
    return [clean(row[0]), *("  " + line for line in wrap(cells, width - 2))]


def _below(shown: Shown, sources: Sources, width: int) -> list[str]:
    told = notes(shown.sheets)
    blocks = []
    if told:
        blocks.append(
            "\n".join(["Notes", *("  " + wrap_text(f"{name}: {note}", width, hang=4) for name, note in told)])
        )
    listing = sources.listing()
    if listing:
        lines = (f"  [{number}] {clean(source)}" for number, source in listing)
        blocks.append("\n".join([f"Sources (rows as of {shown.as_of})", *lines]))
    return blocks


def wrap_text(text: str, width: int, *, hang: int = 0) -> str:
    """Return the text wrapped; the lines after the first one are indented by `hang`."""
    return ("\n" + " " * hang).join(wrap(text, width - hang))
