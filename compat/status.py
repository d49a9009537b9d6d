"""What a library means by a status code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.matrix import Matrix

if TYPE_CHECKING:
    from compat.artefact import StatusRow


def status_row(library: str, code: int, matrix: Matrix) -> StatusRow | None:
    """The row of a status code ("nvml", 15), None for one that no row has."""
    rows: tuple[StatusRow, ...] = matrix.rows("status", "codes")
    return next((row for row in rows if row.library == library and row.code == code), None)
