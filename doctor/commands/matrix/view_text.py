"""Aligned tables for a terminal, with notes and numbered sources below."""

from __future__ import annotations

from doctor.commands.matrix.shown import Shown
from doctor.commands.matrix.view import Sheet, Sources, grid, notes
from doctor.output.page import clean, wrap

# A table of more lines is an overview: its notes and sources would drown it.
_OVERVIEW = 60
_WIDTH = 100


def render(shown: Shown) -> str:
    """The tables; notes and sources unless it is an overview."""
    overview = not shown.name and sum(len(sheet.lines) for sheet in shown.sheets) > _OVERVIEW
    sources = None if overview or not shown.product else Sources()
    blocks = [*(_paragraph(text) for text in shown.summary)]
    blocks.extend(_block(sheet, sources, titled=bool(shown.product)) for sheet in shown.sheets)
    if sources is not None:
        blocks.extend(_below(shown, sources))
    elif overview:
        named = f"gpudoctor matrix show {shown.product or 'PRODUCT'} NAME, or --format markdown."
        as_of = f" Rows as of {shown.as_of}." if shown.as_of else ""
        blocks.append(f"Notes and sources: {named}{as_of}")
    return "\n\n".join(blocks) + "\n"


def _block(sheet: Sheet, sources: Sources | None, *, titled: bool) -> str:
    lines = aligned(grid(sheet, sources))
    return "\n".join([sheet.heading, *("  " + line for line in lines)] if titled else lines)


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of cells as lines, columns aligned, two blanks between them."""
    cleaned = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cleaned, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cleaned]


def _below(shown: Shown, sources: Sources) -> list[str]:
    told = notes(shown.sheets)
    blocks = []
    if told:
        blocks.append("\n".join(["Notes", *("  " + _hanging(f"{name}: {note}") for name, note in told)]))
    listing = sources.listing()
    if listing:
        lines = (f"  [{number}] {clean(source)}" for number, source in listing)
        blocks.append("\n".join([f"Sources (rows as of {shown.as_of})", *lines]))
    return blocks


def _paragraph(text: str) -> str:
    return "\n".join(wrap(text, _WIDTH))


def _hanging(text: str) -> str:
    return "\n    ".join(wrap(text, _WIDTH - 4))
