"""What builds were compiled for, where their own metadata lets pip take more: `numpy<2` of what came before NumPy 2."""

from __future__ import annotations

from collections.abc import Iterable

from compat.matrix import Matrix
from compat.overlap import inside
from compat.row import AbiRow, FrameworkRow

YES, NO = "yes", "no"


def abi_limits(row: FrameworkRow, versions: str, matrix: Matrix) -> dict[str, str]:
    """Limits by distribution for a build of these versions; none that its metadata has, or its Pythons.

    A limit stands for all of the versions, or it is none.
    """
    rows: tuple[AbiRow, ...] = matrix.rows("conflicts", "abi")
    own = (one for one in rows if one.package == row.package and set(row.os) & set(one.os))
    found = next((one for one in own if inside([versions], one.versions) == YES), None)
    if found is None or not _any_python(row.python, found.python):
        return {}
    said = row.pins or {}
    return {name: limit for name, limit in found.needs.items() if inside([said.get(name, "")], limit) != YES}


def _any_python(pythons: Iterable[str] | None, admitted: str) -> bool:
    """Whether one of them could be in trouble; so where nobody knows them."""
    return pythons is None or any(inside([f"=={one}"], admitted) != NO for one in pythons)
