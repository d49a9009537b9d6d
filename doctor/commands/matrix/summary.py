"""What follows from the rows for the product that was asked for, in sentences."""

from __future__ import annotations

from typing import Any

from compat.matrix import Matrix
from compat.version import DriverRelease
from doctor.commands.matrix.view import Table


def summary_of(product: str, name: str, tables: tuple[Table, ...], matrix: Matrix) -> tuple[str, ...]:
    """Sentences for a driver or a CUDA version, of which the table alone is easily misread; mostly none."""
    if not name:
        return ()
    rows = tables[0].rows
    if product == "driver":
        return _driver(DriverRelease.parse(name), rows[0], matrix)
    return _cuda(rows[0]) if product == "cuda" else ()


def _driver(release: DriverRelease, branch: Any, matrix: Matrix) -> tuple[str, ...]:
    started = {
        title: max((row.cuda for row in _toolkits(matrix) if _starts(row, system, release)), default=None)
        for title, system in (("Linux", "linux"), ("Windows", "windows"))
    }
    said = {
        cuda: f"CUDA {cuda} ({' and '.join(title for title, other in started.items() if other == cuda)})"
        for cuda in started.values()
        if cuda
    }
    own = f"CUDA {branch.cuda_max}" if branch.cuda_max else "an unknown version"
    if not said:
        return (f"Driver {release} reports {own}.",)
    return (f"Driver {release} reports {own}; it starts programs built with any up to {', '.join(said.values())}.",)


def _starts(row: Any, system: str, release: DriverRelease) -> bool:
    floor: DriverRelease | None = getattr(row, f"driver_floor_{system}")
    return floor is not None and release[: len(floor)] >= floor[: len(release)]


def _toolkits(matrix: Matrix) -> tuple[Any, ...]:
    return matrix.rows("cuda", "toolkits")


def _cuda(row: Any) -> tuple[str, ...]:
    if row.driver_floor_linux is None or row.driver_floor_linux == row.toolkit_driver_linux:
        return ()
    floor = f"A program built with CUDA {row.cuda} starts on driver {row.driver_floor_linux} (Linux) and newer"
    return (f"{floor}; the driver that came with the toolkit, {row.toolkit_driver_linux or 'not known'}, is no floor.",)
