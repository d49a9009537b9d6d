"""Markdown tables, with notes and numbered sources below."""

from __future__ import annotations

from doctor.commands.matrix.shown import Shown
from doctor.commands.matrix.view import Sheet, Sources, grid, notes


def render(shown: Shown) -> str:
    """The tables, their notes and their sources."""
    sources = Sources() if shown.product else None
    blocks = [f"# {shown.product} {shown.name}".rstrip()] if shown.product else []
    blocks.extend(shown.summary)
    blocks.extend(sheet_text(sheet, sources) for sheet in shown.sheets)
    return "\n\n".join([*blocks, *below(shown.sheets, sources, shown.as_of)]) + "\n"


def sheet_text(sheet: Sheet, sources: Sources | None) -> str:
    """A heading and a table."""
    return f"## {sheet.heading}\n\n{table(grid(sheet, sources))}"


def table(rows: list[tuple[str, ...]], *, escape: bool = True) -> str:
    """A table; the first row is its head. `escape` False takes the cells for Markdown."""
    lines = ["| " + " | ".join(map(cell, row) if escape else row) + " |" for row in rows]
    return "\n".join([lines[0], "| " + " | ".join("---" for _ in rows[0]) + " |", *lines[1:]])


def below(sheets: tuple[Sheet, ...], sources: Sources | None, as_of: str) -> list[str]:
    """The blocks of notes and of sources."""
    told = notes(sheets)
    blocks = ["\n".join(["## Notes", "", *(f"- {cell(name)}: {cell(note)}" for name, note in told)])] if told else []
    listing = sources.listing() if sources else ()
    if listing:
        lines = (f"{number}. {_source(source)}" for number, source in listing)
        blocks.append("\n".join([f"## Sources (rows as of {as_of})", "", *lines]))
    return blocks


def _source(source: str) -> str:
    return f"<{source}>" if source.startswith("https://") and " " not in source else cell(source)


def cell(text: str) -> str:
    """The text as it is, but for the signs that Markdown would take for its own."""
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
    return escaped.replace("<", "&lt;").replace("*", "\\*").replace("__", "\\_\\_")
