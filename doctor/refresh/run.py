"""What `gpudoctor matrix refresh` does, apart from reading its command line and printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from packaging.version import Version

from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.record import NamedTuple
from doctor.choice import one_of
from doctor.probes.frameworks import reader_of
from doctor.probes.metadata import normal
from doctor.refresh import nvidia, table
from doctor.refresh.compare import Change, compare
from doctor.refresh.framework import PLAIN, Custom, NotTold, Release, joined, read, releases_of
from doctor.refresh.index import Connection
from doctor.refresh.listing import wheels_of
from doctor.refresh.web import Unreachable, Web

NVIDIA = ("cuda", "cudnn")
_NEW_AT_MOST = 20
Progress = Callable[[str], None]


def silent(step: str) -> None:
    """No progress is shown."""


class Source(NamedTuple):
    """Where the releases are read from, and what they are compared with."""

    connection: Connection
    web: Web
    shipped: Matrix  # without the user's rows
    today: str  # ISO date


class Outcome(NamedTuple):
    """What was found about one product."""

    product: str
    as_of: str  # date of the shipped rows, "" where none are shipped
    own_as_of: str  # date of the user's rows before this run, "" for none
    newest_known: str  # newest release that the shipped rows cover, of those that are served
    newest_served: str
    changes: tuple[Change, ...]
    problems: tuple[str, ...]  # why something was not read
    is_read: bool  # whether anything could be read about it at all
    written: str  # the file that was written, "" for none


def refreshable() -> tuple[str, ...]:
    """The products about which wheels or manifests tell."""
    frameworks = (name for name in products() if is_framework(name) and reader_of(name))
    return tuple(sorted((*NVIDIA, *frameworks)))


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """The products to refresh, all by default; raises NoSuchName.

    A package that the matrix does not have yet is taken where one of the readers serves it.
    """
    known = refreshable()
    found = [normal(name) for name in names]
    return (
        tuple(dict.fromkeys(name if reader_of(name) else one_of("product to refresh", name, known) for name in found))
        or known
    )


def refresh(  # noqa: PLR0913 - what is asked, of whom, and where it goes
    names: Iterable[str],
    source: Source,
    overlay: str,
    *,
    newest: int | None = None,
    dry_run: bool = False,
    progress: Progress = silent,
) -> tuple[Outcome, ...]:
    """Read the new releases of products (or the `newest` so many) and write the user's rows, product by product.

    Each file is complete when it appears, so what an interruption leaves is what was there before.
    """
    found = []
    for name in names:
        progress(name)
        content, damage = table.own_rows(name, overlay)
        outcome = _one(name, source, newest, progress)
        written = ""
        if outcome.changes and not dry_run:
            rows = [change.row for change in outcome.changes]
            written = table.write(name, overlay, table.with_rows(content, rows, source.today))
        problems = (*((damage,) if damage else ()), *outcome.problems)
        found.append(outcome._replace(own_as_of=content["as_of"], written=written, problems=problems))
    return tuple(found)


def _one(name: str, source: Source, newest: int | None, progress: Progress) -> Outcome:
    collect = {"cuda": _toolkits, "cudnn": _cudnn}.get(name)
    return collect(source, newest, progress) if collect else _framework(name, source, newest, progress)


def _framework(name: str, source: Source, newest: int | None, progress: Progress) -> Outcome:
    wheels, problems = wheels_of(name, source.connection.indexes, source.web)
    releases = [
        release
        for release in releases_of(name, (wheel for wheel in wheels if not wheel.is_yanked))
        if not release.wheels[0].version.is_prerelease
    ]
    served = sorted({Version(release.public) for release in releases})
    known = [one for one in served if source.shipped.framework_rows(name, str(one))]
    wanted = {str(one) for one in _wanted(served, known, newest)}
    rows, untold = _rows([one for one in releases if one.public in wanted], source, progress)
    is_read = (bool(wheels) or not problems) and (bool(rows) or not wanted)
    return _outcome(name, source, served, known, rows, (*problems, *untold), is_read=is_read)


def _rows(releases: list[Release], source: Source, progress: Progress) -> tuple[list[Any], list[str]]:
    custom = _custom(releases[0].package, source.shipped) if releases else PLAIN
    rows: dict[tuple[Any, ...], Any] = {}
    untold = []
    for release in releases:
        progress(f"{release.package} {release.version} {release.platform.os_family} {release.platform.arch}")
        row = read(release, source.web, source.today, custom)
        if isinstance(row, NotTold):
            untold.append(f"{row.release.package} {row.release.version} ({'/'.join(row.release.platform)}): {row.why}")
        else:  # one build in several files, as a plain release and with its local version: the plain one counts
            rows.setdefault((row.versions, row.build, row.os, row.arch), row)
    return list(joined(rows.values())), untold


def _custom(package: str, shipped: Matrix) -> Custom:
    """What the shipped rows of a package tell apart and pin; the default where none are shipped."""
    rows = shipped.rows(package, "builds") if shipped.has(package) else ()
    if not rows:
        return PLAIN
    names = {name for row in rows for name in row.pins or ()}
    return Custom(any(row.build.startswith("cu") for row in rows), tuple(sorted(names)))


def _cudnn(source: Source, newest: int | None, progress: Progress) -> Outcome:
    by_version, problems = nvidia.cudnn_releases(source.connection.indexes, source.shipped, source.web)
    try:
        manifests = nvidia.manifests("cudnn", source.shipped, source.web)
    except Unreachable as error:
        manifests, problems = {}, (*problems, str(error))
    by_manifest = {Version(".".join(release.split(".")[:3])): url for release, url in manifests.items()}
    served = sorted({*by_version, *by_manifest})
    known = [
        one for one in served if one in {Version(str(row.version)) for row in source.shipped.rows("cudnn", "releases")}
    ]
    rows: list[Any] = []
    wanted = _wanted(served, known, newest)
    for version in wanted:
        progress(f"cudnn {version}")
        try:
            if version in by_version:
                rows += nvidia.cudnn_rows(version, by_version[version], source.web, source.today)
            else:
                rows += nvidia.manifest_rows("cudnn", by_manifest[version], source.shipped, source.web, source.today)
        except Unreachable as error:
            problems = (*problems, str(error))
    return _outcome("cudnn", source, served, known, rows, problems, is_read=bool(served) and bool(rows or not wanted))


def _toolkits(source: Source, newest: int | None, progress: Progress) -> Outcome:
    try:
        manifests = nvidia.manifests("cuda", source.shipped, source.web)
    except Unreachable as error:
        return _outcome("cuda", source, [], [], [], (str(error),), is_read=False)
    by_version = {Version(release): url for release, url in manifests.items()}
    served = sorted(by_version)
    shipped = {Version(row.release) for row in source.shipped.rows("cuda", "toolkits")}
    known = [one for one in served if one in shipped]
    rows: list[Any] = []
    problems: list[str] = []
    wanted = _wanted(served, known, newest)
    for version in wanted:
        progress(f"cuda {version}")
        try:
            rows += nvidia.manifest_rows("cuda", by_version[version], source.shipped, source.web, source.today)
        except Unreachable as error:
            problems.append(str(error))
    return _outcome(
        "cuda", source, served, known, rows, tuple(problems), is_read=bool(served) and bool(rows or not wanted)
    )


def _wanted(served: list[Version], known: list[Version], newest: int | None) -> list[Version]:
    """The newest so many, else every release after the newest known one; with none known, the newest alone."""
    if newest is not None:
        return served[-newest:]
    return [one for one in served if one > known[-1]][-_NEW_AT_MOST:] if known else served[-1:]


def _outcome(  # noqa: PLR0913, PLR0917 - what is known of a product
    name: str,
    source: Source,
    served: list[Version],
    known: list[Version],
    rows: list[Any],
    problems: tuple[str, ...],
    *,
    is_read: bool,
) -> Outcome:
    return Outcome(
        product=name,
        as_of=source.shipped.as_of(name) if source.shipped.has(name) else "",
        own_as_of="",
        newest_known=str(known[-1]) if known else "",
        newest_served=str(served[-1]) if served else "",
        changes=tuple(compare(row, source.shipped) for row in rows),
        problems=problems,
        is_read=is_read,
        written="",
    )
