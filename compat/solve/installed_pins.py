"""What is installed and must stay as it is, as candidates that the solver may not change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compat.build import release_key
from compat.fit import Fit
from compat.load import is_framework
from compat.matrix import Matrix, accepts
from compat.row import FrameworkRow
from compat.solve.candidates import INSTALLED, SolveCandidate, newest, wants_of
from compat.spec import Spec
from compat.target import TargetMachine

OTHERS = "the installed packages"


def held_candidates(
    held: Iterable[Spec], asked: Sequence[Spec], circumstances: TargetMachine, matrix: Matrix
) -> dict[str, tuple[SolveCandidate, ...]]:
    """By name: the builds that an installed release may be, and under OTHERS all that no row of builds is of.

    A package that is asked for is not held. What an installed build needs of others is what its row says; nothing of
    the machine is held against it: it is there.
    """
    found: dict[str, tuple[SolveCandidate, ...]] = {}
    plain: dict[str, str] = {}
    names = {one.name for one in asked}
    for spec in held:
        if spec.name in names:
            continue
        rows = _rows_of(spec, circumstances, matrix)
        if rows:
            found[spec.name] = tuple(_held(spec.name, row, spec.versions) for row in rows)
        elif spec.versions:
            plain[spec.name] = spec.versions
    if plain:
        found[OTHERS] = (_held(OTHERS, _others(plain, circumstances), ""),)
    return found


def _rows_of(spec: Spec, where: TargetMachine, matrix: Matrix) -> list[FrameworkRow]:
    """The builds that it may be, of its own distribution: all of that release where the build is not said."""
    if not (is_framework(spec.name) and matrix.has(spec.name)):
        return []
    release = spec.versions.removeprefix("==")
    rows: tuple[FrameworkRow, ...] = matrix.rows(spec.name, "builds")
    here = [row for row in rows if where.os_family in row.os and where.arch in row.arch]
    there = [row for row in here if release_key(release) and accepts(row.versions, release)]
    return [row for row in there if row.build == spec.build] or ([] if spec.build else there[:1])


def _held(name: str, row: FrameworkRow, versions: str) -> SolveCandidate:
    wants = wants_of(row, versions) if versions else row.pins or {}
    return SolveCandidate(name, Fit(row, ()), versions, key=newest(versions), wants=wants, held=True)


def _others(pins: dict[str, str], where: TargetMachine) -> FrameworkRow:
    """Distributions of which no row of builds knows more than that they are there."""
    return FrameworkRow(
        id=INSTALLED,
        package=OTHERS,
        versions="",
        build="",
        os=(where.os_family,),
        arch=(where.arch,),
        python=(),
        cuda="",
        cudnn=None,
        cudnn_accepts="",
        libraries="",
        targets=(),
        glibc="",
        pins=pins,
        source="the environment itself",
        read_on="",
        confidence="high",
        note="",
    )
