"""Where builds are published and cards sit, what a package is called and an extra of it brings, what a system has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from compat.build import release_key
from compat.matrix import Matrix, accepts
from compat.overlap import NO, YES, overlap

if TYPE_CHECKING:
    from compat.platform_row import (
        AbsentRow,
        CardPlatformRow,
        ExtraRow,
        JetpackRow,
        NameRow,
        SystemLibraryRow,
        SystemRow,
        UnpublishedRow,
    )
    from compat.row import FrameworkRow
    from compat.spec import Spec
    from compat.target import TargetMachine


def package_named(name: str, matrix: Matrix) -> NameRow | None:
    """The row of a name that people give a package, "pytorch"; None where it is no such name."""
    return next((row for row in _rows(matrix, "package", "names") if row.id == name), None)


def names_of_packages(matrix: Matrix) -> set[str]:
    """Every name that people give a package."""
    return {row.id for row in _rows(matrix, "package", "names")}


def extras_of(package: str, release: str, matrix: Matrix) -> tuple[ExtraRow, ...]:
    """The extras with which a release brings libraries that it does not bring without them."""
    return tuple(
        row
        for row in _rows(matrix, "package", "extras")
        if row.package == package and row.brings and accepts(row.versions, release or "0")
    )


def extras_asked(spec: Spec, matrix: Matrix) -> tuple[ExtraRow, ...]:
    """The rows of the extras that a spec names, of releases that it admits."""
    if not spec.extras:
        return ()
    return tuple(
        row
        for row in _rows(matrix, "package", "extras")
        if row.package == spec.name and row.extra in spec.extras and overlap((row.versions, spec.versions)) == YES
    )


def fits_extras(spec: Spec, row: FrameworkRow, matrix: Matrix) -> bool:
    """Whether a spec's extras ask for a build: jax[cuda12_local] asked for a jaxlib of its own before 0.4.30."""
    asking = [one for one in extras_asked(spec, matrix) if one.asks == row.package]
    return not asking or any(
        row.build.startswith(one.build) and overlap((one.versions, row.versions)) != NO for one in asking
    )


def extras_lacking(spec: Spec, row: FrameworkRow, matrix: Matrix) -> Iterator[tuple[ExtraRow, ...]]:
    """The rows of each extra that the package has in other releases only."""
    for extra in spec.extras:
        every = _rows(matrix, "package", "extras")
        known = tuple(one for one in every if (one.package, one.extra) == (spec.name, extra))
        if known and all(overlap((one.versions, spec.versions, row.versions)) == NO for one in known):
            yield known


def brought_by(spec: Spec, package: str, matrix: Matrix) -> frozenset[str] | None:
    """The libraries that a spec's extras bring to a package, "cuda" and "cudnn"; None where the spec leaves it open.

    It does where it names neither the package nor an extra that asks for it: whoever writes jax may mean jax[cuda12].
    """
    rows = [row for row in extras_asked(spec, matrix) if (row.asks or row.package) == package]
    if not rows and package != spec.name:
        return None
    return frozenset(library for row in rows for library in row.brings)


def machine_of(card: str, matrix: Matrix) -> CardPlatformRow | None:
    """The one kind of machine that a card sits in, by the id of its row; None where there are several kinds."""
    return next((row for row in _rows(matrix, "platform", "cards") if card in row.cards), None)


def absent(package: str, specifier: str, where: TargetMachine, matrix: Matrix) -> AbsentRow | None:
    """The row that says that there is no GPU build of a release for a platform and its cards, if there is one.

    `specifier` is that of a row of builds: every release that it names must be absent.
    """
    named = [clause.strip().lstrip("=<>!~").removesuffix(".*") for clause in specifier.split(",") if clause.strip()]
    found = [
        row
        for row in _rows(matrix, "platform", "absent")
        if row.package in {"", package}
        and where.os_family in row.os
        and (not row.arch or where.arch in row.arch)
        and (not row.cards or set(where.capabilities) & set(row.cards))
        and (row.package or package not in {"cuda", "cudnn"})
        and all(accepts(row.versions, one) for one in named if release_key(one))
    ]
    return min(found, key=lambda row: (row.gpu_only, not row.package), default=None)  # what says most comes first


def unpublished(row: FrameworkRow, matrix: Matrix, versions: str = "") -> str:
    """Return how people get a build that a plain `pip install` does not bring; "" for every other.

    `versions` are the releases that were asked for; "" for all of the row.
    """
    requirement = f"'{row.package}{versions or row.versions}'"
    rows: tuple[UnpublishedRow, ...] = _rows(matrix, "package", "unpublished")
    found = (one for one in rows if one.package == row.package and overlap((one.versions, row.versions)) != NO)
    return next((one.instead.replace("{requirement}", requirement) for one in found), "")


@lru_cache(maxsize=8)
def known_pythons(matrix: Matrix) -> tuple[str, ...]:
    """Every Python that some system has, oldest first."""
    found = {one for row in _rows(matrix, "platform", "systems") for one in row.pythons or ()}
    return tuple(sorted(found, key=release_key))


def usual_python(pythons: Iterable[str], where: TargetMachine, matrix: Matrix) -> str:
    """Choose a Python that most systems of this family (and this glibc) have, the newest of several; "" for none."""
    rows: list[SystemRow] = [row for row in _rows(matrix, "platform", "systems") if row.pythons]
    family = [row for row in rows if (row.id == "windows") == (where.os_family == "windows")]
    same = [row for row in family if where.glibc and row.glibc == where.glibc]

    def rank(python: str) -> tuple[int, int, bool, tuple[int, ...]]:
        here, anywhere = (sum(python in (row.pythons or ()) for row in systems) for systems in (same, family))
        return here, anywhere, not python.endswith("t"), tuple(map(int, python.rstrip("t").split(".")))

    return max(pythons, key=rank, default="")


def jetpack_of(l4t: str, matrix: Matrix) -> JetpackRow | None:
    """The row of a release of Jetson's system, "36.4.3"; None for one that no row has."""
    major = l4t.partition(".")[0]
    return next((row for row in _rows(matrix, "platform", "jetpacks") if row.id == major), None)


def system_library(soname: str, matrix: Matrix) -> SystemLibraryRow | None:
    """The row of a library that a system brings itself, None for any other."""
    return next((row for row in _rows(matrix, "platform", "libraries") if row.id == soname), None)


def _rows(matrix: Matrix, product: str, table: str) -> tuple[Any, ...]:
    return matrix.rows(product, table) if matrix.has(product) else ()
