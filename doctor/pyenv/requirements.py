"""What installed packages require of each other, compared as `pip check` does: Requires-Dist and Requires-Python.

Extras that a package requires of another one count as well. What a marker says that cannot be evaluated here is left
out. Source: PyPA, "Core metadata specifications" and "Dependency specifiers".
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from compat.specifier import keeps
from compat.traits import traits_of
from doctor.host import Host, HostError
from doctor.host.snapshot import remembered
from doctor.model.facts.environment import Distribution, Unmet
from doctor.model.facts.seen import Place
from doctor.pyenv.metadata import fields, header, marker_holds, metadata_file, normal, tidy

_MEMORY, _FIELDS = "unmet", 5
_AT_MOST = 500  # lines of one package
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[([\w.,-]*)\])?([^@]*)(@?)")
_VARIANT = re.compile(r"-(?:binary|contrib|cpu|cu\d+|cuda\d+x?|gpu|headless)\b")  # builds of the same modules


def unmet_among(host: Host, distributions: tuple[Distribution, ...], python: str) -> tuple[Unmet, ...]:
    """Return what does not hold of the packages that Python imports; none for a file that cannot be read.

    It is remembered until one of these files changes: to read and compare them all takes a tenth of a check.
    """
    found = {one.name: one for one in distributions if not one.hidden_by}
    wheels = [one for one in found.values() if one.kind == "wheel"]
    if not wheels:
        return ()
    state = [python, *((one.name, one.version, _mark(host, one)) for one in found.values())]

    def read() -> list[Any]:
        every = _unmet(host, found, python)
        return [[one.distribution, one.name, one.specifier, one.source.file, one.there] for one in every]

    try:
        said = remembered(host, wheels[0].site, f"{_MEMORY} {_short(repr(state))}", read, _is_said)
    except HostError:
        return ()
    return tuple(Unmet(who, name, wanted, Place(file), there=there) for who, name, wanted, file, there in said)


def _short(state: str) -> str:
    try:
        from binascii import crc32  # loads libz in some builds of Python; the one that is found may be damaged
    except ImportError:
        return state
    return f"{crc32(state.encode()):x}"


def _mark(host: Host, one: Distribution) -> str:
    try:
        return host.status(metadata_file(one)).mark
    except HostError:
        return ""


def _unmet(host: Host, found: Mapping[str, Distribution], python: str) -> Iterator[Unmet]:
    said = {name: _said(host, one) for name, one in found.items() if one.kind == "wheel"}
    for name, (needs_python, _) in said.items():
        if needs_python and python and not keeps(needs_python, python):
            yield Unmet(name, "python", needs_python, Place(metadata_file(found[name])), there=python)
    todo, done = deque((name, "", name) for name in said), set()
    while todo:
        name, extra, asking = todo.popleft()
        if (name, extra) in done or name not in said:
            continue
        done.add((name, extra))
        marks = {"os_family": host.os_family, "site": found[name].site, "extra": extra, "python": python}
        for required, extras, specifier in _requirements(host, said[name][1], marks, extra=extra):
            todo += [(required, normal(one), asking) for one in extras.split(",") if one]
            there = found.get(required)
            if there and keeps(specifier, there.version):
                continue
            if there or not _has_sister(required, found):
                place = Place(metadata_file(found[name]))
                yield Unmet(asking, required, specifier, place, there=there.version if there else "")


def _said(host: Host, one: Distribution) -> tuple[str, list[str]]:
    """Requires-Python, and the lines of Requires-Dist."""
    try:
        text = header(host, metadata_file(one))
    except HostError:
        return "", []
    return next(iter(fields(text, "Requires-Python")), ""), fields(text, "Requires-Dist")[:_AT_MOST]


def _is_said(said: Any) -> bool:
    return isinstance(said, list) and all(
        isinstance(one, list) and [*map(type, one)] == [str] * _FIELDS for one in said
    )


def _requirements(host: Host, lines: list[str], marks: dict[str, str], *, extra: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, extras and specifier of the lines that hold: of an extra, those that name it."""
    for line in lines:
        requirement, _, marker = line.partition(";")
        if ("extra" in marker) != bool(extra):
            continue
        found = _REQUIREMENT.match(tidy(requirement))
        if found and (not marker.strip() or marker_holds(host, marker, marks)):
            yield normal(found[1]), found[2] or "", found[3]


def _has_sister(name: str, found: Mapping[str, Distribution]) -> bool:
    """Whether a package that has the same modules serves: a build for GPUs, or one without windows."""
    family, stem = traits_of(name).id, _VARIANT.sub("", name)
    if any(one.startswith(stem) and _VARIANT.sub("", one) == stem for one in found):
        return True
    return bool(family) and any(traits_of(one).id == family for one in found)
