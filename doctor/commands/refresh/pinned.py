"""The Pythons of a build by what it requires: xFormers is one wheel for all of them, the torch that it pins is not."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix
from compat.overlap import NO, overlap
from compat.row import FrameworkRow


def on_pinned_pythons(row: FrameworkRow, matrix: Matrix) -> FrameworkRow:
    """The row without those Pythons for which no build of something that it requires has a wheel.

    What the matrix does not know yet, as a torch of the same day, takes none away.
    """
    if not row.python or not row.pins:
        return row
    for name, specifier in row.pins.items():
        served = set(_pythons(name, specifier, row, matrix))
        left = tuple(one for one in row.python or () if one in served)
        if left and left != row.python:
            note = f"Pythons for which {name}{specifier}, which it requires, has a wheel"
            row = row._replace(python=left, note=f"{row.note}; {note}" if row.note else note)
    return row


def _pythons(name: str, specifier: str, row: FrameworkRow, matrix: Matrix) -> Iterator[str]:
    """Those of every release in question on the row's platform; none where one of these is not known."""
    rows = matrix.rows(name, "builds") if matrix.has(name) else ()
    here = [one for one in rows if set(one.os) & set(row.os) and set(one.arch) & set(row.arch)]
    admitted = [one for one in here if overlap((specifier, one.versions)) != NO]
    if all(one.python for one in admitted):
        for one in admitted:
            yield from one.python or ()
