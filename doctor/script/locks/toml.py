"""poetry.lock, pdm.lock and pylock.toml: lists of packages, each with the marker of where it is installed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from compat.spec import normal
from doctor.model.facts.seen import Place
from doctor.script.locks.package import Lines, Package, Wanted, build_of, has_file_for, of_wheel, tables, texts

Table = Mapping[str, Any]
POETRY = {"metadata": {"python-versions": str}, "extras": {}, "package": [{"source": {}}]}
PDM = {"metadata": {"requires_python": str}, "package": [{}]}
PYLOCK = {"requires-python": str, "packages": [{"wheels": [{}], "archive": {}}]}


def poetry(document: Table, wanted: Wanted, file: str, lines: Lines) -> tuple[Package, ...]:
    """Return what is in the main group, and in the groups and extras that are chosen."""
    groups, extras = {*({"main"} if wanted.main else ()), *wanted.groups}, document.get("extras", {})
    of_extras = {normal(one.partition(" ")[0]) for extra in wanted.extras for one in texts(extras.get(extra))}
    found = []
    seen: Counter[str] = Counter()
    for one in tables(document, "package"):
        seen[str(one.get("name"))] += 1
        which = seen[str(one.get("name"))] - 1
        name, markers = normal(str(one.get("name", ""))), one.get("markers", "")
        if isinstance(markers, dict):  # by group
            markers = next((str(markers[group]) for group in groups if group in markers), "")
        is_chosen = groups & {*(texts(one.get("groups")) or ("main",))}
        if is_chosen and (not one.get("optional") or name in of_extras) and wanted.holds(str(markers)):
            source = one.get("source", {})
            named = of_wheel(str(source.get("url", ""))) if source.get("type") == "url" else None
            build = None if source.get("type") == "git" else build_of("" if named else str(source.get("url", "")))
            version = named[1] if named else str(one.get("version", ""))
            place, fits = (
                Place(file, lines.of(str(one.get("name")), which)),
                has_file_for(_files(one), wanted.environment),
            )
            found.append(Package(name, version, place, build, is_installable=fits))
    return tuple(found)


def pdm(document: Table, wanted: Wanted, file: str, lines: Lines) -> tuple[Package, ...]:
    """Return what is in the default group, and in the groups and extras that are chosen."""
    groups = {*({"default"} if wanted.main else ()), *wanted.groups, *wanted.extras}
    found = []
    seen: Counter[str] = Counter()
    for one in tables(document, "package"):
        seen[str(one.get("name"))] += 1
        which = seen[str(one.get("name"))] - 1
        name = normal(str(one.get("name", "")))
        if one.get("extras") or not groups & {*(texts(one.get("groups")) or ("default",))}:
            continue
        if wanted.holds(str(one.get("marker", ""))):
            named = of_wheel(str(one.get("url", "")))
            version = named[1] if named else str(one.get("version", ""))
            place, fits = (
                Place(file, lines.of(str(one.get("name")), which)),
                has_file_for(_files(one), wanted.environment),
            )
            found.append(Package(name, version, place, is_installable=fits))
    return tuple(found)


def pylock(document: Table, wanted: Wanted, file: str, lines: Lines) -> tuple[Package, ...]:
    """Return the packages of a pylock.toml (PEP 751); a marker may ask for extras and groups."""
    found = []
    seen: Counter[str] = Counter()
    for one in tables(document, "packages"):
        seen[str(one.get("name"))] += 1
        which = seen[str(one.get("name"))] - 1
        name, marker = normal(str(one.get("name", ""))), str(one.get("marker", ""))
        if not _holds(marker, wanted):
            continue
        wheels = [str(each.get("url", "")) for each in one.get("wheels", ()) if isinstance(each, dict)]
        archive = str((one.get("archive") or {}).get("url", ""))
        named = next(filter(None, map(of_wheel, (archive, *wheels))), None)
        version = str(one.get("version", "")) or (named[1] if named else "")
        place = Place(file, lines.of(str(one.get("name")), which))
        names = wheels if not {"sdist", "archive", "vcs", "directory"} & one.keys() else ()
        fits = has_file_for(filter(None, names), wanted.environment)
        found.append(Package(name, version, place, build_of(str(one.get("index", ""))), is_installable=fits))
    return tuple(found)


def _files(one: Table) -> list[str]:
    """The files that poetry and pdm list of a package; nothing for one from git or a directory."""
    listed = one.get("files", ())
    named = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [str(each.get("file") or each.get("url") or "") for each in named]


def _holds(marker: str, wanted: Wanted) -> bool:
    """With `'x' in extras` and `'x' in dependency_groups`, which packaging reads from release 25 on."""
    if "extras" not in marker and "dependency_groups" not in marker:
        return wanted.holds(marker)
    from packaging.markers import Marker

    values: dict[str, Any] = {**wanted.environment, "extras": wanted.extras, "dependency_groups": wanted.groups}
    return Marker(marker).evaluate(values, context="lock_file")
