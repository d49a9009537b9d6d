"""What a project asks for in pyproject.toml or Pipfile, where nothing is locked.

Sources: PyPA, "pyproject.toml specification" and "Dependency Groups"; uv's documentation, "Managing dependencies"
(`tool.uv.sources`, indexes); poetry's documentation, "Dependency specification" (`^`, `~`, `source`); setuptools,
"Dynamic Metadata".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from compat.base.record import NamedTuple
from compat.spec import normal
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.locked import ALL, LockUse
from doctor.commands.dockerfile.requirements import Line, constrained, name_of, requirements
from doctor.host.documents import parse_toml
from doctor.model.facts.seen import Place
from doctor.script.locks.package import LockError, build_of, refuse_other_shape

Table = Mapping[str, Any]
_DEEPEST = 10
_SHAPE = {
    "project": {
        "name": str, "requires-python": str, "dynamic": [str], "dependencies": [str],
        "optional-dependencies": {"*": [str]},
    },
    "dependency-groups": {"*": [object]},
    "packages": {},
    "tool": {
        "uv": {"sources": {}, "index": [{"name": str, "url": str}]},
        "poetry": {"dependencies": {}, "extras": {}, "source": [{"name": str, "url": str}],
                   "group": {"*": {"dependencies": {}}}},
        "pdm": {"dev-dependencies": {"*": [str]}},
        "setuptools": {"dynamic": {}},
    },
}  # fmt: skip


class Asked(NamedTuple):
    """One requirement, and the indexes that serve it."""

    line: Line
    tags: tuple[str, ...] | None = ("",)  # as of Pinned
    is_from_elsewhere: bool = False  # from an address, a path or git


class Declared(NamedTuple):
    """What a project asks for."""

    asked: tuple[Asked, ...] = ()
    unread: tuple[str, ...] = ()  # what of it is not read
    python: str = ""  # the specifier of requires-python


def groups_of(use: LockUse, document: Table) -> tuple[str, ...]:
    """Return the groups that a command installs beside the project's own dependencies."""
    tool: Table = document.get("tool", {})
    poetry = tool.get("poetry", {}).get("group", {})
    listed = [*document.get("dependency-groups", {}), *tool.get("pdm", {}).get("dev-dependencies", {})]
    listed += [name for name, group in poetry.items() if not group.get("optional")]
    if use.tool == "uv":
        default = tool.get("uv", {}).get("default-groups", ["dev"])
        first = listed if default == "all" else list(default)
    else:
        first = [] if use.tool in {"pip", "pipenv"} else listed
    wanted = [*first, *use.groups, *(listed if ALL in use.groups else ())]
    return tuple(dict.fromkeys(one for one in wanted if one != ALL and not {one, ALL} & {*use.without}))


def extras_of(use: LockUse, document: Table) -> tuple[str, ...]:
    """Return the extras that a command chooses."""
    named = document.get("project", {}).get("optional-dependencies", {})
    named = named or document.get("tool", {}).get("poetry", {}).get("extras", {})
    return tuple(named) if ALL in use.extras else use.extras


def parse_project(text: str | None) -> Table:
    """Return the parsed file; an empty one for none, and for one that is damaged."""
    try:
        document = parse_toml(text or "")
        refuse_other_shape(document, _SHAPE, "")
    except (ValueError, LockError):
        return {}
    return document


def declared(use: LockUse, context: Context) -> Declared:
    """Return what a command installs of a project without its lock file."""
    text = context.text(use.project) or ""
    document = parse_project(text)
    if not document:
        return Declared(unread=("it cannot be read",))
    try:
        return _Reader(use, text, document, context).all()
    except (AttributeError, TypeError, KeyError) as error:  # of another shape than its specification has
        return Declared(unread=(f"it cannot be read: {error}"[:80],))


class _Reader:
    def __init__(self, use: LockUse, text: str, document: Table, context: Context) -> None:
        self._use, self._document, self._context = use, document, context
        self._lines = text.splitlines()
        self._shown = context.shown(use.project)
        self._project: Table = document.get("project", {})
        self._tool: Table = document.get("tool", {})
        self._unread: list[str] = []

    def all(self) -> Declared:
        if self._use.project.endswith("Pipfile"):
            asked = list(self._of_tables(self._document.get("packages", {})))
        elif "dependencies" in self._tool.get("poetry", {}) and "dependencies" not in self._project:
            is_main = not self._use.only or "main" in self._use.only
            asked = list(self._of_tables(self._tool["poetry"]["dependencies"])) if is_main else []
            for group in self._use.only or groups_of(self._use, self._document):
                asked += self._of_tables(self._tool["poetry"].get("group", {}).get(group, {}).get("dependencies", {}))
        else:
            asked = [self._asked(text) for text in self._texts()] + self._dynamic()
        python = self._project.get("requires-python", "")
        return Declared(tuple(asked), tuple(self._unread), python if isinstance(python, str) else "")

    def _texts(self) -> Iterator[str]:
        if not self._use.only:
            yield from self._project.get("dependencies", ())
            for extra in extras_of(self._use, self._document):
                yield from self._of_extra(extra, 0)
        for group in self._use.only or groups_of(self._use, self._document):
            yield from self._of_group(group, 0)

    def _of_extra(self, extra: str, depth: int) -> Iterator[str]:
        """An extra may name others of the same project: all = ["mine[gpu]"]."""
        for text in self._project.get("optional-dependencies", {}).get(extra, ()) if depth < _DEEPEST else ():
            named = re.match(r"[\w.-]+\s*\[([^\]]*)\]", text)
            if named and name_of(text) == normal(str(self._project.get("name", ""))):
                for one in named[1].split(","):
                    yield from self._of_extra(one.strip(), depth + 1)
            else:
                yield text

    def _of_group(self, group: str, depth: int) -> Iterator[str]:
        listed = self._document.get("dependency-groups", {}).get(group, ())
        listed = listed or self._tool.get("pdm", {}).get("dev-dependencies", {}).get(group, ())
        for one in listed if depth < _DEEPEST else ():
            if isinstance(one, str):
                yield one
            else:
                yield from self._of_group(one.get("include-group", ""), depth + 1)

    def _dynamic(self) -> list[Asked]:
        """Dependencies that setuptools or hatch read from files of requirements, at the build."""
        if "dependencies" not in self._project.get("dynamic", ()) and "project" in self._document:
            return []
        dynamic = self._tool.get("setuptools", {}).get("dynamic", {}).get("dependencies", {})
        hook = self._tool.get("hatch", {}).get("metadata", {}).get("hooks", {}).get("requirements_txt", {})
        files = dynamic.get("file") or hook.get("files") or ()
        found = []
        for name in [files] if isinstance(files, str) else files:
            listed = requirements(posixpath.join(posixpath.dirname(self._use.project), name), self._context, {})
            if not listed.is_whole:
                self._unread.append(f"{name}, which it names, was not found")
            found += [Asked(line) for line in constrained(listed)]
        if not files:
            self._unread.append("its build decides what it requires")
        return found

    def _of_tables(self, tables: Table) -> Iterator[Asked]:
        """Entries of poetry and pipenv: a version, or a table with it and its source."""
        for name, entry in tables.items():
            for one in entry if isinstance(entry, list) else [entry]:
                table = {"version": one} if isinstance(one, str) else one
                if name == "python" or (table.get("optional") and not self._use.extras):
                    continue
                place = Place(self._shown, self._line(rf"\s*[\"']?{re.escape(name)}[\"']?\s*="))
                extras = ",".join(table.get("extras", ()))
                marker = table.get("markers", "")
                spec = name + (f"[{extras}]" if extras else "") + _versions(str(table.get("version", "*")))
                line = Line(f"{spec} ; {marker}" if marker else spec, place)
                elsewhere = bool({"git", "url", "path"} & table.keys())
                yield Asked(line, self._tags(table.get("source") or table.get("index") or ""), elsewhere)

    def _asked(self, text: str) -> Asked:
        place = Place(self._shown, self._line(rf".*[\"']{re.escape(text)}[\"']"))
        line = Line(text, place)
        if re.match(r"[\w.-]+\s*(?:\[[^\]]*\]\s*)?@", text):
            return Asked(line, None, is_from_elsewhere=True)
        name, uv = name_of(text), self._tool.get("uv", {})
        if self._use.tool != "uv":
            return Asked(line)
        sources: Any = next((one for each, one in uv.get("sources", {}).items() if normal(each) == name), [])
        indexes = []
        for source in sources if isinstance(sources, list) else [sources]:
            if {"git", "url", "path", "workspace"} & source.keys():
                return Asked(line, None, is_from_elsewhere="workspace" not in source)
            indexes.append((source.get("index", ""), source.get("marker", "")))
        if not indexes:
            first = [build_of(str(one.get("url", ""))) for one in uv.get("index", ()) if not one.get("explicit")]
            known = tuple(one for one in first if one is not None)
            return Asked(line, (*known, "")[:1] if len(known) == len(first) else None)
        if len(indexes) == 1 and not indexes[0][1]:
            return Asked(line, self._tags(indexes[0][0]))
        # Of several indexes only the one for Linux counts in an image: that without the name of another system.
        left = [name for name, marker in indexes if not re.search(r"darwin|win32|Windows|Darwin", marker)
                or re.search(r"!=\s*[\"'](?:darwin|win32|Windows|Darwin)", marker)]  # fmt: skip
        return Asked(line, self._tags(left[0]) if len(left) == 1 else None)

    def _tags(self, source: str) -> tuple[str, ...] | None:
        """The build that a named index serves."""
        if not source:
            return ("",)
        listed = [*self._tool.get("uv", {}).get("index", ()), *self._tool.get("poetry", {}).get("source", ())]
        listed += self._document.get("source", ()) if isinstance(self._document.get("source"), list) else ()
        url = next((str(one.get("url", "")) for one in listed if one.get("name") == source), None)
        build = build_of(url) if url else None
        return None if build is None else (build,)

    def _line(self, pattern: str) -> int:
        return next((number for number, line in enumerate(self._lines, 1) if re.match(pattern, line)), 0)


def _versions(text: str) -> str:
    """A specifier of PEP 440 for one of poetry's: "^2.1", "~2.1", "2.1.0", "*"."""
    if text in {"*", ""}:
        return ""
    made = []
    for one in text.replace(" ", "").split(","):
        found = re.fullmatch(r"([\^~])(\d+(?:\.\d+)*)(.*)", one)
        if found and not one.startswith("~="):
            parts = [int(each) for each in found[2].split(".")]
            at = (
                next((number for number, each in enumerate(parts) if each), 0)
                if found[1] == "^"
                else min(1, len(parts) - 1)
            )
            upper = [*parts[:at], parts[at] + 1]
            made.append(f">={found[2]},<{'.'.join(map(str, upper))}")
        else:
            made.append(one if re.match(r"[=<>!~]", one) else f"=={one}")
    return ",".join(made)
