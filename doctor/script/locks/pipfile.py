"""Pipfile.lock: the packages of the default section, each with its index and marker."""

from __future__ import annotations

from typing import Any

from compat.spec import normal
from doctor.model.facts.seen import Place
from doctor.script.locks.package import Lines, LockError, Package, Wanted, build_of, of_wheel

SHAPE = {"_meta": {"sources": [{"name": str}], "requires": {"python_version": str}}, "*": {"*": {"index": str}}}


def select(document: Any, wanted: Wanted, file: str, lines: Lines) -> tuple[Package, ...]:
    """Return what is installed; `--group develop` adds the packages for development. Raises LockError."""
    if not isinstance(document, dict) or not isinstance(document.get("default"), dict):
        raise LockError(f"{file}: it is not a Pipfile.lock: it has no section default")
    meta = document.get("_meta") or {}
    sources = {one.get("name"): str(one.get("url", "")) for one in meta.get("sources", ()) if isinstance(one, dict)}
    found = []
    for section in ("default", *wanted.groups):
        for name, one in (document.get(section) or {}).items():
            if not isinstance(one, dict) or not wanted.holds(str(one.get("markers", ""))):
                continue
            named = of_wheel(str(one.get("file", "")))
            version = named[1] if named else str(one.get("version", "")).lstrip("=")
            index = "" if named else sources.get(one.get("index"), "")
            build = None if "git" in one else build_of(index)
            found.append(Package(normal(name), version, Place(file, lines.of(name)), build))
    return tuple(found)
