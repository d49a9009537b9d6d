"""The same for a maintainer: `python -m doctor.commands.refresh.shipped --all` adds what is new to the shipped tables.

Rows that are shipped stay as they are, for people have put documents beside the wheels: what is shown of them
differently is printed, to be judged. One of them is touched in one way: a wheel for another processor of which the
same holds adds that processor to it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import date
from typing import Any

from compat.load import DATA, RowReader, load_file
from compat.matrix import Matrix
from compat.overlay import empty
from compat.row import CudnnWheelRow, FrameworkRow
from doctor.commands.refresh import table
from doctor.commands.refresh.compare import NEW, same_pins
from doctor.commands.refresh.configuration import connection_of
from doctor.commands.refresh.framework import joined
from doctor.commands.refresh.run import Source, chosen, refresh
from doctor.commands.refresh.show import Result, as_text
from doctor.commands.refresh.web import Web
from doctor.host.live import LiveHost
from doctor.output.write import terminal_style, write_file


def refresh_shipped(names: Sequence[str], source: Source, data: str = DATA, newest: int | None = None) -> str:
    """Add the new releases to the tables under `data`, and return the text that says what was found."""
    outcomes = refresh(names, source, "", newest=newest, dry_run=True)
    is_new = False
    for outcome in outcomes:
        rows = [one.row for one in outcome.changes if one.kind == NEW or isinstance(one.row, CudnnWheelRow)]
        if rows:
            path = os.path.join(data, f"{outcome.product}.json")
            content = load_file(outcome.product, data) if os.path.exists(path) else empty(outcome.product)
            rows = [_on_one_more(row, content) if isinstance(row, FrameworkRow) else row for row in rows]
            write_file(path, table.text_of(table.with_rows(content, rows, source.today)))
            is_new = True
    if is_new:  # the date of the CUDA tables stands for all: compat.matrix.Matrix.as_of
        content = {**load_file("cuda", data), "as_of": source.today}
        write_file(os.path.join(data, "cuda.json"), table.text_of(content))
    return as_text(
        Result(outcomes=outcomes, connection=source.connection, folder=data, today=source.today, dry_run=False),
        terminal_style(),
    )


def _on_one_more(row: FrameworkRow, content: table.Json) -> FrameworkRow:
    """The shipped row of the same build with this processor added, where it holds there too; else the row itself."""
    reader = RowReader(FrameworkRow, f"{row.package}.builds")
    for item in content["tables"]["builds"]:
        if (item["versions"], item["build"], item["os"]) == (row.versions, row.build, list(row.os)):
            shipped: FrameworkRow = reader.read(item)
            found = joined((shipped, _in_its_words(row, shipped)))
            if len(found) == 1:
                return found[0]._replace(id=shipped.id, read_on=row.read_on)
    return row


def _in_its_words(row: FrameworkRow, shipped: FrameworkRow) -> FrameworkRow:
    """The row with what it does not say, and what is no statement about the product, as the shipped one has it."""
    kept: dict[str, Any] = {name: value for name, value in shipped._asdict().items() if getattr(row, name) is None}
    if shipped.pins is not None and row.pins is not None and same_pins(shipped.pins, row.pins):
        kept["pins"] = shipped.pins
    kept |= {"confidence": shipped.confidence, "note": shipped.note, "unsure": shipped.unsure}
    return row._replace(read_on=shipped.read_on, **kept)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, refresh and print; a maintainer has the time that it takes."""
    parser = argparse.ArgumentParser(prog="python -m doctor.commands.refresh.shipped", description=__doc__)
    parser.add_argument("products", nargs="*")
    parser.add_argument("--all", action="store_true", help="every product that has an index or manifests")
    parser.add_argument("--gaps", action="store_true", help="old releases and platforms without a row, too")
    parser.add_argument("--releases", type=int, metavar="N", help="the newest N releases, also known ones")
    parser.add_argument("--manifests", default="", metavar="PATH", help="NVIDIA's manifests")
    parser.add_argument("--channels", action="store_true", help="the makers' own indexes, too")
    asked = parser.parse_args(arguments)
    if bool(asked.products) is asked.all:
        parser.error("name products, or give --all")
    connection = connection_of(LiveHost(), (), os.getcwd())
    today = date.today().isoformat()
    source = Source(
        connection=connection,
        web=Web(connection),
        shipped=Matrix(),
        today=today,
        manifests=asked.manifests,
        gaps=asked.gaps,
        channels=asked.channels,
    )
    sys.stdout.write(refresh_shipped(chosen(asked.products), source, newest=asked.releases))


if __name__ == "__main__":
    main(sys.argv[1:])
