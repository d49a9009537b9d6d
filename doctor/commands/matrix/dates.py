"""The date of the rows that an answer rests on, where they are old and a newer release could change it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from compat.base.record import NamedTuple
from compat.build import gpu_packages
from compat.load import is_framework
from compat.matrix import Matrix
from compat.spec import Spec
from doctor.output.page import Page

_OLD_DAYS = 60


class OldRows(NamedTuple):
    """A package whose rows were read long ago."""

    package: str
    as_of: str  # ISO date


def today() -> date:
    """Return the day on which the question is asked."""
    return date.today()


def old_rows(specs: Iterable[Spec], verdict: str, matrix: Matrix) -> tuple[OldRows, ...]:
    """Return the packages whose rows are more than 60 days old and matter.

    A release published since could turn a "no" or an "unknown", and be newer than the newest; a release that was named
    and works stays as it is.
    """
    asked = {spec.name: None for spec in specs if verdict != "yes" or not spec.versions.startswith("==")}
    found = ((name, max((matrix.as_of(one) for one in _tables(name, matrix)), default="")) for name in asked)
    return tuple(OldRows(name, as_of) for name, as_of in found if as_of and _is_old(as_of))


def _tables(name: str, matrix: Matrix) -> Iterable[str]:
    names = dict.fromkeys((*gpu_packages(name), name))
    return (one for one in names if is_framework(one) and matrix.has(one))


def _is_old(as_of: str) -> bool:
    return (today() - date.fromisoformat(as_of)).days > _OLD_DAYS


def write_old_rows(page: Page, found: tuple[OldRows, ...]) -> None:
    """Write the dates, and what brings newer rows."""
    if found:
        page.gap()
        dates = ", ".join(f"{one.package} {one.as_of}" for one in found)
        names = " ".join(one.package for one in found)
        page.paragraph(f"Read long ago: {dates}. gpudoctor matrix refresh {names} reads what is new since.", hang=2)


def old_rows_json(found: tuple[OldRows, ...]) -> list[dict[str, str]]:
    """Return the same for JSON."""
    return [{"package": one.package, "as_of": one.as_of} for one in found]
