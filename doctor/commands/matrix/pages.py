"""The reference pages under docs/matrix, made from the tables; `python -m doctor.commands.matrix.pages` writes them.

They are not in git: `.ci/run` makes them. Packages of one family (cupy-cuda11x, cupy-cuda12x)
share a page; tables of files to download are summarised, for `gpudoctor matrix show` gives every file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

from compat.load import products
from compat.matrix import Matrix
from doctor.commands.matrix.choose import tables_for
from doctor.commands.matrix.columns import sheet_of
from doctor.commands.matrix.show import about, listing
from doctor.commands.matrix.view import Line, Sheet, Sources, Table
from doctor.commands.matrix.view_markdown import below, cell, sheet_text, table

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "matrix")
_MADE = "<!-- Made by `python -m doctor.commands.matrix.pages`; do not edit. -->"


def pages(matrix: Matrix) -> dict[str, str]:
    """Every page by its file name."""
    families: dict[str, list[str]] = {}
    for product in products():
        families.setdefault(family_of(product), []).append(product)
    made = {f"{family}.md": _page(family, members, matrix) for family, members in families.items()}
    rows = [
        (f"[{cell(line.cells[0])}]({family_of(line.cells[0])}.md)", *map(cell, line.cells[1:]))
        for line in listing(matrix).lines
    ]
    head = ("product", "rows", "as of", "what it holds")
    return {**made, "README.md": ("\n\n".join(["# The matrix", _MADE, table([head, *rows], escape=False)]) + "\n")}


def family_of(product: str) -> str:
    """The product without the CUDA version in its name: cupy-cuda12x and cupy share a page."""
    return re.sub(r"-cu(da)?\d+x?$", "", product)


def _page(family: str, members: list[str], matrix: Matrix) -> str:
    sheets = tuple(sheet for member in members for sheet in _sheets(member, matrix, alone=len(members) == 1))
    sources = Sources()
    date = max(matrix.as_of(member) for member in members)
    held = about(family, matrix) if members == [family] else f"builds of {', '.join(members)}"
    more = f"`gpudoctor matrix show {members[0]} NAME` shows one release with every column."
    intro = f'It holds {held}, as of {date}. "?" = unknown. {more}'
    tables = (sheet_text(sheet, sources) for sheet in sheets)
    blocks = [f"# {family}", _MADE, intro, *tables, *below(sheets, sources, date)]
    return "\n\n".join(blocks) + "\n"


def _sheets(product: str, matrix: Matrix, *, alone: bool) -> Iterable[Sheet]:
    for rows in tables_for(product, "", matrix):
        summarise = _SUMMARIES.get(rows.name)
        sheet = summarise(rows) if summarise else sheet_of(rows)
        yield sheet if alone else sheet._replace(heading=product)


def _grouped(rows: tuple[Any, ...], key: Callable[[Any], str]) -> Iterable[tuple[str, list[Any]]]:
    return ((name, list(group)) for name, group in groupby(rows, key=key))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _archives(rows: Table) -> Sheet:
    lines = (
        Line(
            (
                release,
                _listed(row.cuda for row in group),
                _listed(f"{row.os} {row.arch}" for row in group),
                _listed(row.layout for row in group),
                _listed(row.digest_from for row in group),
            ),
            "; ".join(dict.fromkeys(part for row in group for part in row.source.split("; "))),
            _listed(row.note for row in group if row.note),
        )
        for release, group in _grouped(rows.rows, lambda row: str(row.version))
    )
    return Sheet("Archives", ("release", "CUDA", "platforms", "layout", "digests from"), tuple(lines))


def _installers(rows: Table) -> Sheet:
    lines = (
        Line(
            (
                release,
                _listed(f"{row.os} {row.arch} {row.kind}" for row in group),
                _listed(str(row.driver_bundled) for row in group if row.driver_bundled),
                _listed(f"{row.os} {row.arch}" for row in group if row.sha256),
            ),
            "; ".join(dict.fromkeys(part for row in group for part in row.source.split("; "))),
        )
        for release, group in _grouped(rows.rows, lambda row: row.release)
    )
    return Sheet("Installers", ("release", "installers", "driver inside", "SHA-256 known for"), tuple(lines))


def _manifests(rows: Table) -> Sheet:
    lines = (
        Line(
            (product, _listed(f"{row.release}*" if row.digest_from == "several" else row.release for row in group)),
            "; ".join(dict.fromkeys(part.partition(":")[0] for row in group for part in row.source.split("; "))),
        )
        for product, group in _grouped(rows.rows, lambda row: row.product)
    )
    return Sheet("Redistributable manifests", ("product", "releases (* digest from several sources)"), tuple(lines))


def _components(rows: Table) -> Sheet:
    lines = (
        Line(
            (release, ", ".join(f"{row.component} {row.version}" for row in group)),
            "; ".join(dict.fromkeys(row.source for row in group)),
        )
        for release, group in _grouped(rows.rows, lambda row: row.release)
    )
    return Sheet("Components", ("CUDA", "components"), tuple(lines))


_SUMMARIES: dict[str, Callable[[Table], Sheet]] = {
    "cudnn-archive.archives": _archives,
    "cuda-installer.installers": _installers,
    "redist.manifests": _manifests,
    "redist-component.components": _components,
}


def write(folder: str = FOLDER) -> None:
    """Write every page, and remove pages of products that are gone."""
    made = pages(Matrix())
    os.makedirs(folder, exist_ok=True)
    for name in set(os.listdir(folder)) - made.keys():
        os.unlink(os.path.join(folder, name))
    for name, text in made.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)


if __name__ == "__main__":
    write()
