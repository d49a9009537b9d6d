"""The makers' own indexes whose builds the shipped rows speak of: torch's has one for each CUDA version."""

from __future__ import annotations

from compat.build import follows, release_key
from compat.matrix import Matrix, accepts
from compat.row import FrameworkRow, WheelIndexRow
from doctor.commands.refresh.index import Index

_NEWEST_MINORS = 2


def channel_indexes(package: str, shipped: Matrix) -> tuple[Index, ...]:
    """Return the indexes that serve the newest releases of a package, or of the framework that it follows.

    An index that ended with an older release is left out: nothing new comes there.
    """
    leader = follows(package) or package
    rows: list[WheelIndexRow] = [row for row in shipped.rows("index", "wheels") if row.package == leader]
    newest = _newest(leader, shipped)
    serving = (row for row in rows if row.build != "cpu" and any(accepts(row.versions, one) for one in newest))
    return tuple(Index.of(row.url, f"{leader}'s index for {row.build}") for row in serving)


def _newest(package: str, shipped: Matrix) -> tuple[str, ...]:
    """The newest release of each of the newest minor releases."""
    rows: tuple[FrameworkRow, ...] = shipped.rows(package, "builds") if shipped.has(package) else ()
    exact = {row.versions[2:] for row in rows if row.versions.startswith("==") and not row.versions.endswith("*")}
    by_minor = {release_key(one)[:2]: one for one in sorted(exact, key=release_key)}
    return tuple(by_minor[minor] for minor in sorted(by_minor)[-_NEWEST_MINORS:])
