"""What a project says beside its lock file: requirements, package indexes, and which of them have an effect.

Source: uv's documentation, "Dependency sources" and "Package indexes" (`explicit`); poetry's, "Repositories".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compat.base.errors import GpudoctorError
from compat.spec import normal, parse_spec
from doctor.commands.dockerfile.context import Context
from doctor.commands.dockerfile.locked import ALL, LockUse
from doctor.commands.dockerfile.pyproject import declared, parse_project
from doctor.commands.dockerfile.requirements import name_of
from doctor.model.facts.dockerfile import DockerfileFacts, ProjectRequirement, ProjectSource
from doctor.model.facts.seen import Place
from doctor.script.locks.package import build_of

Table = Mapping[str, Any]


def with_project(told: DockerfileFacts, use: LockUse, document: object, context: Context) -> DockerfileFacts:
    """Add what the project of a lock file asks for; a workspace is left out, whose members share the sources."""
    text = context.text(use.project) if use.project.endswith("pyproject.toml") else None
    project = parse_project(text)
    if not project or not isinstance(document, dict) or "workspace" in project.get("tool", {}).get("uv", {}):
        return told
    every = use._replace(extras=(ALL,), groups=(ALL,), without=(), only=())
    records: dict[str, list[str]] = {}
    for one in (*document.get("package", ()), *document.get("packages", ())):
        if isinstance(one, dict):
            records.setdefault(normal(str(one.get("name", ""))), []).append(str(one.get("version", "")))
    shown, lines = context.shown(use.project), (text or "").splitlines()
    asked = tuple(_requirements(every, project, records, context))
    sources = tuple(_sources(project, shown, lines, every.tool))
    return told._replace(requirements=(*told.requirements, *asked), sources=(*told.sources, *sources))


def _requirements(
    use: LockUse, project: Table, records: Mapping[str, list[str]], context: Context
) -> Iterator[ProjectRequirement]:
    overridden = {name_of(one) for one in project.get("tool", {}).get("uv", {}).get("override-dependencies", ())}
    for one in declared(use, context).asked:
        text, _, marker = one.line.spec.partition(";")
        try:
            spec = parse_spec(text)
        except GpudoctorError:
            continue
        if one.is_from_elsewhere or one.tags is None or spec.name in overridden:
            continue
        build = one.tags[0] if len(one.tags) == 1 else ""
        found = tuple(records.get(spec.name, ()))
        lock = use.lock.rpartition("/")[2]
        yield ProjectRequirement(
            spec.name, spec.versions, marker.strip(), one.line.source, lock=lock, locked=found, build=build
        )


def _sources(project: Table, file: str, lines: list[str], tool: str) -> Iterator[ProjectSource]:
    settings = project.get("tool", {})
    direct = _direct(project)
    used = set()
    uv = settings.get("uv", {}) if tool == "uv" else {}
    for name, entry in uv.get("sources", {}).items():
        for one in entry if isinstance(entry, list) else [entry]:
            if not isinstance(one, dict) or "index" not in one:
                continue
            used.add(one["index"])
            place = Place(file, _line(lines, rf"\s*[\"']?{re.escape(name)}[\"']?\s*=", "[tool.uv.sources]"))
            package, marker = normal(name), one.get("marker", "")
            yield ProjectSource(package, one["index"], marker, place, is_used=package in direct)
    if tool == "poetry":
        used = {one.get("source") for one in _poetry(settings) if isinstance(one, dict)}
        indexes = [one for one in settings.get("poetry", {}).get("source", ()) if one.get("priority") == "explicit"]
    else:
        indexes = [one for one in uv.get("index", ()) if one.get("explicit")]
    for one in indexes:
        name, url = one.get("name", ""), str(one.get("url", ""))
        if name not in used and build_of(url):
            yield ProjectSource("", name, "", Place(file, _line(lines, rf".*{re.escape(url)}", "")), is_used=False)


def _poetry(settings: Table) -> Iterator[Any]:
    poetry = settings.get("poetry", {})
    tables = [
        poetry.get("dependencies", {}),
        *(one.get("dependencies", {}) for one in poetry.get("group", {}).values()),
    ]
    for entry in (each for table in tables for each in table.values()):
        yield from entry if isinstance(entry, list) else [entry]


def _direct(project: Table) -> set[str]:
    """The packages that sources may be named for."""
    own, uv = project.get("project", {}), project.get("tool", {}).get("uv", {})
    listed = [*own.get("dependencies", ()), *uv.get("dev-dependencies", ()), *uv.get("override-dependencies", ())]
    listed += [*uv.get("constraint-dependencies", ()), *project.get("build-system", {}).get("requires", ())]
    for table in (own.get("optional-dependencies", {}), project.get("dependency-groups", {})):
        listed += [one for each in table.values() for one in each if isinstance(one, str)]
    return {name_of(one) for one in listed}


def _line(lines: list[str], pattern: str, after: str) -> int:
    start = next((number for number, line in enumerate(lines, 1) if line.strip() == after), 0)
    return next((at for at, line in enumerate(lines, 1) if at > start and re.match(pattern, line)), start)
