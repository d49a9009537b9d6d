"""The release that an installer takes today for a requirement that names none, by the rows of a package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from compat.base.record import NamedTuple
from compat.build import default_build, has_python, is_default_build, release_key
from compat.matrix import Matrix, Uncovered, accepts
from compat.row import FrameworkRow
from compat.spec import Spec
from compat.traits import traits_of

_EXACT = re.compile(r"==(\d+(?:\.\d+)*(?:\.post\d+)?)")


class Where(NamedTuple):
    """The platform that an installer chooses for."""

    os_family: str
    arch: str
    python: str  # "3.12"; "" if unknown


class Taken(NamedTuple):
    """What an installer takes."""

    version: str  # "2.15.0"
    build: str  # "cu132"; "" for a package that names its builds otherwise


def newest_beside(spec: Spec, where: Where, fits: Callable[[FrameworkRow], bool], matrix: Matrix) -> str:
    """Return the newest release of the default index whose row fits what is there; "" if no row tells it."""
    rows: tuple[FrameworkRow, ...] = matrix.rows(spec.name, "builds")
    fitting = tuple(row for row in rows if fits(row))
    return next((one for one in _releases(rows, spec, where) if _has(fitting, one, where)), "")


def newest(spec: Spec, indexes: Iterable[str], where: Where, matrix: Matrix) -> Taken | None:
    """Return the newest release that a spec admits; None if no row tells it.

    `indexes` are the tags of PyTorch's indexes that the installer reads, "" for the default index. Of several indexes
    the newest release of all counts; within a release a local version ("2.15.0+cu130") is newer than a plain one.
    """
    if not matrix.has(spec.name):
        return None
    rows: tuple[FrameworkRow, ...] = matrix.rows(spec.name, "builds")
    if not traits_of(spec.name).tagged:
        return next((Taken(one, "") for one in _releases(rows, spec, where) if _has(rows, one, where)), None)
    found = [each for tag in indexes if (each := _of_index(rows, spec, tag, where, matrix))]
    return max(found, key=lambda one: (release_key(one[0].version), one[1]), default=(None, False))[0]


def _of_index(
    rows: tuple[FrameworkRow, ...], spec: Spec, tag: str, where: Where, matrix: Matrix
) -> tuple[Taken, bool] | None:
    """What one index serves, and whether its version has a local part."""
    if spec.build and tag not in ("", spec.build):
        return None
    for version in _releases(rows, spec, where):
        if tag:
            row = next((one for one in rows if one.build == tag and _is_here(one, version, where)), None)
            if row and _is_served(spec.name, tag, version, matrix):
                return Taken(version, tag), True
        else:
            served = default_build(spec.name, version, where.os_family, where.arch, matrix)
            if served and is_default_build(served) and has_python(served, where.python):
                return Taken(version, served.build), False
    return None


def _is_served(package: str, tag: str, version: str, matrix: Matrix) -> bool:
    try:
        return bool(matrix.wheel_index(package, tag, version))
    except Uncovered:
        return False


def _releases(rows: Iterable[FrameworkRow], spec: Spec, where: Where) -> Iterator[str]:
    """The releases that have a row of their own here, the newest first; no pre-releases."""
    there = {
        found[1]
        for row in rows
        if (found := _EXACT.fullmatch(row.versions)) and where.os_family in row.os and row.confidence != "low"
    }
    for one in sorted(there, key=lambda version: (release_key(version), version), reverse=True):
        if accepts(spec.versions, one):
            yield one


def _has(rows: Iterable[FrameworkRow], version: str, where: Where) -> bool:
    return any(_is_here(one, version, where) for one in rows)


def _is_here(row: FrameworkRow, version: str, where: Where) -> bool:
    here = where.os_family in row.os and where.arch in row.arch
    return here and accepts(row.versions, version) and has_python(row, where.python)
