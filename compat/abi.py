"""What a build needs that its own metadata does not say: `numpy<2` of what came before NumPy 2, a Python, a glibc."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.overlap import inside
from compat.row import AbiRow, FrameworkRow

YES, NO = "yes", "no"
PYTHON, GLIBC = "python", "glibc"  # what a limit may be on besides distributions


class AbiLimit(NamedTuple):
    """One limit of a build, with the row that says so."""

    on: str  # a distribution, PYTHON or GLIBC
    specifier: str  # PEP 440; "" where the distribution must be there, whatever its release
    row: AbiRow


def abi_limits(row: FrameworkRow, versions: str, matrix: Matrix, python: str = "") -> tuple[AbiLimit, ...]:
    """Return the limits for a build of these versions on a Python ("" for all that it has wheels for).

    Leave out what its metadata or its Pythons already say. A limit is for all of the versions, or it is left out.
    """
    own = _of_build(row, versions, matrix, (python,) if python else row.python)
    wants = {**(row.pins or {}), **_joined(row, own)}
    required = (one for name, pin in wants.items() for one in _of_distribution(name, row.os, pin, matrix))
    return (*own, *required)


def _of_build(
    row: FrameworkRow, versions: str, matrix: Matrix, pythons: tuple[str, ...] | None
) -> tuple[AbiLimit, ...]:
    return tuple(
        AbiLimit(name, limit, one)
        for one in _rows(row.package, row.os, versions, matrix)
        if _any_python(pythons, one.python)
        for name, limit in one.needs.items()
        if not _is_said(row, name, limit)
    )


def _joined(row: FrameworkRow, limits: Iterable[AbiLimit]) -> dict[str, str]:
    """The limits on distributions, each with what the metadata says of it."""
    said, found = row.pins or {}, dict[str, str]()
    for one in limits:
        if one.on not in {PYTHON, GLIBC}:
            found[one.on] = ",".join(filter(None, (found.get(one.on, said.get(one.on, "")), one.specifier)))
    return found


def _of_distribution(name: str, os: tuple[str, ...], pin: str, matrix: Matrix) -> tuple[AbiLimit, ...]:
    """What a distribution that is no framework needs itself: a numpy before 1.24 has no wheel for Python 3.12."""
    if matrix.has(name):
        return ()
    rows = _rows(name, os, pin, matrix)
    return tuple(AbiLimit(on, limit, one) for one in rows for on, limit in one.needs.items() if on in {PYTHON, GLIBC})


def distribution_limits(row: FrameworkRow, versions: str, matrix: Matrix, python: str = "") -> dict[str, str]:
    """Return the limits on distributions, as specifiers by name."""
    found: dict[str, str] = {}
    for one in abi_limits(row, versions, matrix, python):
        if one.on not in {PYTHON, GLIBC}:
            found[one.on] = ",".join(filter(None, (found.get(one.on, ""), one.specifier)))
    return found


def _is_said(row: FrameworkRow, name: str, limit: str) -> bool:
    said = (row.pins or {}).get(name)
    return said is not None and inside([said], limit) == YES


@lru_cache(maxsize=1024)
def _rows(package: str, os: tuple[str, ...], versions: str, matrix: Matrix) -> tuple[AbiRow, ...]:
    rows: tuple[AbiRow, ...] = matrix.rows("conflicts", "abi")
    own = (one for one in rows if one.package == package and set(os) & set(one.os))
    return tuple(one for one in own if inside([versions], one.versions) == YES)


def _any_python(pythons: Iterable[str] | None, admitted: str) -> bool:
    """Whether one of them could be in trouble; yes if they are unknown."""
    return pythons is None or any(inside([f"=={one.rstrip('t')}"], admitted) != NO for one in pythons)
