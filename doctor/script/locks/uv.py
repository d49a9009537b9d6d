"""uv.lock: the packages that uv installs for a platform, with extras and groups.

The walk is compared with `uv export --frozen` (tests/commands/lock/test_uv.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from compat.spec import normal
from doctor.model.facts.seen import Place
from doctor.script.locks.package import Lines, LockError, Package, Wanted, build_of, has_file_for, of_wheel, tables

_CONFLICT = re.compile(r"extra\s*(==|!=)\s*'((?:extra|group)-\d+-[^']+)'")
_TRUE, _FALSE = "python_version >= '0'", "python_version < '0'"
_EDGE = {"name": str, "marker": str, "extra": [str]}
SHAPE = {
    "requires-python": str,
    "package": [
        {
            "source": {},
            "wheels": [{}],
            "resolution-markers": [str],
            "dependencies": [_EDGE],
            "optional-dependencies": {"*": [_EDGE]},
            "dev-dependencies": {"*": [_EDGE]},
        }
    ],
}
_PROJECTS = frozenset({"editable", "virtual", "directory"})
Table = Mapping[str, Any]


def select(document: Table, wanted: Wanted, file: str, lines: Lines) -> tuple[Package, ...]:
    """Follow the dependencies from the project; raises LockError."""
    if document.get("version") != 1:
        raise LockError(f"{file}: uv.lock of version {document.get('version')}; gpudoctor reads version 1")
    walk = _Walk(document, wanted, file)
    found = walk.packages()
    return tuple(_package(one, Place(file, lines.of(one["name"], walk.place_of(one))), wanted) for one in found)


class _Walk:
    def __init__(self, document: Table, wanted: Wanted, file: str) -> None:
        self._wanted, self._file = wanted, file
        self._records: dict[str, list[Table]] = {}
        for one in tables(document, "package"):
            if isinstance(one.get("name"), str):
                self._records.setdefault(one["name"], []).append(one)
        self._root = self._project()
        size, name = len(self._root["name"]), self._root["name"]
        self._chosen = {f"extra-{size}-{name}-{one}" for one in wanted.extras}
        self._chosen |= {f"group-{size}-{name}-{one}" for one in wanted.groups}

    def _project(self) -> Table:
        """The root of the walk, by its source: that of the directory of the lock file."""
        projects = [one for each in self._records.values() for one in each if _PROJECTS & {*one.get("source", {})}]
        if self._wanted.part:
            return self._member(projects)
        here = (one for one in projects if "." in (one["source"].get("editable"), one["source"].get("virtual")))
        root = next(here, projects[0] if projects else None)
        if root is None:
            raise LockError(f"{self._file}: it has no project")
        return root

    def _member(self, projects: list[Table]) -> Table:
        """The member of the workspace that was named."""
        root = next((one for one in projects if normal(one["name"]) == normal(self._wanted.part)), None)
        if root is None:
            raise LockError(f"{self._file}: it has no member {self._wanted.part}")
        return root

    def place_of(self, record: Table) -> int:
        """Return which of the records of its name it is."""
        return next(place for place, one in enumerate(self._records[record["name"]]) if one is record)

    def packages(self) -> list[Table]:
        """Every package that is reached, each once."""
        seen: dict[tuple[str, str, str], tuple[frozenset[str], frozenset[str]]] = {}
        found: dict[tuple[str, str, str], Table] = {}
        left = [(self._root, self._wanted.extras, self._wanted.groups)]
        while left:
            one, extras, groups = left.pop()
            key = (one["name"], str(one.get("version")), str(one.get("source")))
            old_extras, old_groups = seen.get(key, (frozenset(), frozenset()))
            if key in seen and extras <= old_extras and groups <= old_groups:
                continue
            seen[key], found[key] = (old_extras | extras, old_groups | groups), one
            left += [(each, more, frozenset()) for each, more in self._next(one, extras, groups)]
        return [one for one in found.values() if not _PROJECTS & {*one.get("source", {})}]

    def _next(self, one: Table, extras: frozenset[str], groups: frozenset[str]) -> list[tuple[Table, frozenset[str]]]:
        edges = list(one.get("dependencies", ())) if self._wanted.main or one is not self._root else []
        for extra in extras:
            edges += one.get("optional-dependencies", {}).get(extra, ())
        for group in groups:
            edges += one.get("dev-dependencies", {}).get(group, ())
        found = []
        for edge in edges:
            if self._holds(edge.get("marker", "")):
                found += [(each, frozenset(edge.get("extra", ()))) for each in self._records_of(edge)]
        return found

    def _records_of(self, edge: Table) -> list[Table]:
        """The record that an edge means: by version and source, otherwise by the markers of the forks."""
        fits = [
            one
            for one in self._records.get(edge.get("name", ""), ())
            if edge.get("version") in (None, one.get("version")) and edge.get("source") in (None, one.get("source"))
        ]
        if len(fits) > 1:
            fits = [one for one in fits if any(map(self._holds, one.get("resolution-markers", ())))] or fits
        if len({str(one.get("version")) for one in fits}) > 1:
            raise LockError(f"{self._file}: two releases of {edge['name']} are selected at once")
        return fits[:1]

    def _holds(self, marker: str) -> bool:
        """A marker of PEP 508, in which uv also asks for the extras and groups that are chosen."""

        def answer(found: re.Match[str]) -> str:
            return _TRUE if (found[2] in self._chosen) == (found[1] == "==") else _FALSE

        return self._wanted.holds(_CONFLICT.sub(answer, marker))


def _package(one: Table, place: Place, wanted: Wanted) -> Package:
    source = one.get("source", {})
    version = str(one.get("version", ""))
    if named := of_wheel(str(source.get("url", ""))):
        version = named[1]
    files = [one["sdist"]] if isinstance(one.get("sdist"), dict) else []
    files += [each for each in one.get("wheels", ()) if isinstance(each, dict)]
    names = [str(each.get("url") or each.get("filename") or each.get("path") or "") for each in files]
    fits = has_file_for(names, wanted.environment)
    return Package(one["name"], version, place, build_of(str(source.get("registry", ""))), is_installable=fits)
