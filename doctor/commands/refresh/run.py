"""What `gpudoctor matrix refresh` does, apart from reading its command line and printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from packaging.version import Version

from compat.base.choice import one_of
from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.load import is_framework, products
from compat.matrix import Matrix
from doctor.commands.refresh import nvidia, table
from doctor.commands.refresh.channels import channel_indexes
from doctor.commands.refresh.compare import SAME, Change, compare
from doctor.commands.refresh.components import component_rows
from doctor.commands.refresh.framework import (
    PLAIN,
    Custom,
    NotTold,
    Release,
    joined,
    pythons_of,
    read,
    releases_of,
    speaks_of,
)
from doctor.commands.refresh.index import Connection
from doctor.commands.refresh.listing import wheels_of
from doctor.commands.refresh.pinned import on_pinned_pythons
from doctor.commands.refresh.web import Unreachable, Web
from doctor.loader.cards import card_of
from doctor.pyenv.metadata import normal

NVIDIA = ("cuda", "cudnn", "redist-component")
_NEW_AT_MOST = 20
_AT_ONCE = 4  # products; an index is one host, which is asked gently
Progress = Callable[[str], None]


def silent(step: str) -> None:
    """No progress is shown."""


class Source(NamedTuple):
    """Where the releases are read from, and what they are compared with."""

    connection: Connection
    web: Web
    shipped: Matrix  # without the user's rows
    today: str  # ISO date
    manifests: str = ""  # file or directory with NVIDIA's manifests, in place of NVIDIA's own server
    channels: bool = False  # the makers' own indexes, too, of which the shipped rows speak
    gaps: bool = False  # every release and platform that no row speaks of, not only what is newer than the rows


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
    """The products about which wheels or manifests tell.

    A package without a reader counts where a row was read from a wheel of it: the project that has the name of Caffe on
    a package index is another one.
    """
    shipped = Matrix()
    frameworks = (name for name in products() if is_framework(name) and (card_of(name) or _is_served(name, shipped)))
    return tuple(sorted((*NVIDIA, *frameworks)))


def _is_served(package: str, shipped: Matrix) -> bool:
    return any(".whl" in row.source for row in shipped.rows(package, "builds"))


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """The products to refresh, all by default; raises NoSuchName.

    A package that the matrix does not have yet is taken where one of the readers serves it.
    """
    known = refreshable()
    found = [normal(name) for name in names]
    return (
        tuple(dict.fromkeys(name if card_of(name) else one_of("product to refresh", name, known) for name in found))
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

    Each file is complete when it appears, so what an interruption leaves is what was there before. A product that
    cannot be read is shown, and stops no other; raises NotWritten.
    """
    found = []
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        for outcome in pool.map(lambda name: _read(name, source, newest, progress), names):
            content, damage = table.own_rows(outcome.product, overlay)
            written = link = ""
            if outcome.changes and not dry_run:
                link = table.link_at(outcome.product, overlay)
                rows = [change.row for change in outcome.changes]
                written = table.write(outcome.product, overlay, table.with_rows(content, rows, source.today))
            problems = (*filter(None, (damage, link)), *outcome.problems)
            found.append(outcome._replace(own_as_of=content["as_of"], written=written, problems=problems))
    finally:  # also when interrupted: what is under way ends with its present request
        source.web.stop()
        pool.shutdown(wait=False, cancel_futures=True)
    return tuple(found)


def _read(name: str, source: Source, newest: int | None, progress: Progress) -> Outcome:
    """What is found about one product; whatever stops it is shown in its place."""
    progress(name)
    try:
        collect = {"cuda": _toolkits, "cudnn": _cudnn, "redist-component": _components}.get(name)
        return collect(source, newest, progress) if collect else _framework(name, source, newest, progress)
    except GpudoctorError as error:
        return _failed(name, source, str(error))
    except Exception as error:  # noqa: BLE001 - a fault of ours about one product is no reason to leave the others
        return _failed(name, source, f"gpudoctor itself failed: {type(error).__name__}: {error}")


def _failed(name: str, source: Source, why: str) -> Outcome:
    return _outcome(name, source, [], [], [], (why,), is_read=False)


def _framework(name: str, source: Source, newest: int | None, progress: Progress) -> Outcome:
    own = channel_indexes(name, source.shipped) if source.channels else ()
    wheels, problems = wheels_of(name, (*source.connection.indexes, *own), source.web)
    releases = [
        release
        for release in releases_of(name, (wheel for wheel in wheels if not wheel.is_yanked))
        if not release.wheels[0].version.is_prerelease
    ]
    served = sorted({Version(release.public) for release in releases})
    known = _known(name, served, source.shipped)
    wanted = {str(one) for one in _wanted(served, known, newest)}
    asked = [one for one in releases if one.public in wanted]
    if source.gaps and newest is None:
        asked = [one for one in releases if not _covered(one, source.shipped)]
    rows, untold = _rows(asked, source, progress)
    is_read = (bool(wheels) or not problems) and (bool(rows) or not asked)
    outcome = _outcome(name, source, served, known, rows, (*problems, *untold), is_read=is_read)
    if newest is not None:
        return outcome
    # a row of many releases says it already of one that has no row of its own
    return outcome._replace(changes=tuple(change for change in outcome.changes if change.kind != SAME))


def _known(package: str, served: list[Version], shipped: Matrix) -> list[Version]:
    """The releases that have a row of their own; of a package that has no such row, those of a range with an end.

    A row that is of many, such as the one for all CPU builds, does not make a release known.
    """
    every = shipped.rows(package, "builds") if shipped.has(package) else ()
    sign = "==" if any(row.versions.startswith("==") for row in every) else "<"
    return [one for one in served if any(sign in row.versions for row in shipped.framework_rows(package, str(one)))]


def _covered(release: Release, shipped: Matrix) -> bool:
    """Whether a row speaks of a release on a platform."""
    rows = shipped.framework_rows(release.package, release.public)
    return any(speaks_of(row, release.platform) for row in rows)


def _rows(releases: list[Release], source: Source, progress: Progress) -> tuple[list[Any], list[str]]:
    custom = _custom(releases[0].package, source.shipped) if releases else PLAIN
    rows: dict[tuple[Any, ...], Any] = {}
    untold: list[NotTold] = []
    for release in releases:
        progress(f"{release.package} {release.version} {release.platform.os_family} {release.platform.arch}")
        row = read(release, source.web, source.today, custom)
        if isinstance(row, NotTold):
            untold.append(row)
        else:  # one build in several files, as a plain release and with its local version: the plain one counts
            if pythons_of(release.wheels) is None:  # of one wheel for many: a marker may spare the other ones a pin
                row = on_pinned_pythons(row, source.shipped)
            rows.setdefault((row.versions, row.build, row.os, row.arch), row)
    return list(joined(rows.values())), _told_together(untold)


def _told_together(untold: list[NotTold]) -> list[str]:
    """One line a reason, however many releases it holds for."""
    by_reason = groupby(sorted(untold, key=lambda one: one.why), key=lambda one: one.why)
    return [
        ", ".join(f"{one.release.package} {one.release.version} ({'/'.join(one.release.platform)})" for one in group)
        + f": {why}"
        for why, group in by_reason
    ]


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
        manifests, unread = nvidia.manifests("cudnn", source.shipped, source.web, source.manifests)
    except Unreachable as error:
        manifests, unread = {}, (str(error),)
    problems = (*problems, *unread)
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
    rows += nvidia.wheel_rows(by_version, source.shipped, source.today)
    is_read = bool(served) and bool(rows or not wanted) and not (source.manifests and unread)
    return _outcome("cudnn", source, served, known, rows, problems, is_read=is_read)


def _toolkits(source: Source, newest: int | None, progress: Progress) -> Outcome:
    def read_one(_: str, url: str) -> list[Any]:
        return nvidia.manifest_rows("cuda", url, source.shipped, source.web, source.today)

    shipped = {row.release for row in source.shipped.rows("cuda", "toolkits")}
    return _by_manifest("cuda", source, shipped, newest, progress, read_one)


def _components(source: Source, newest: int | None, progress: Progress) -> Outcome:
    def read_one(release: str, url: str) -> list[Any]:
        return component_rows(release, url, source.shipped, source.web, source.today)

    shipped = {row.release for row in source.shipped.rows("redist-component", "components")}
    return _by_manifest("redist-component", source, shipped, newest, progress, read_one)


def _by_manifest(  # noqa: PLR0913, PLR0917 - what is known of a product, and how its manifests are read
    name: str,
    source: Source,
    shipped: set[str],
    newest: int | None,
    progress: Progress,
    read_one: Callable[[str, str], list[Any]],
) -> Outcome:
    """What the manifests of CUDA say of one product of the matrix."""
    try:
        manifests, unread = nvidia.manifests("cuda", source.shipped, source.web, source.manifests)
    except Unreachable as error:
        return _outcome(name, source, [], [], [], (str(error),), is_read=False)
    by_version = {Version(release): release for release in manifests}
    served = sorted(by_version)
    known = [one for one in served if by_version[one] in shipped]
    rows: list[Any] = []
    problems = [*unread]
    wanted = _wanted(served, known, newest)
    if source.manifests and newest is None:  # whoever names a manifest wants it read, also between two known ones
        wanted = [one for one in served if one not in known]
    for version in wanted:
        progress(f"{name} {version}")
        try:
            rows += read_one(by_version[version], manifests[by_version[version]])
        except Unreachable as error:
            problems.append(str(error))
    is_read = bool(served) and bool(rows or not wanted) and not unread
    return _outcome(name, source, served, known, rows, tuple(problems), is_read=is_read)


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
