"""Libraries that a variable puts before the right ones, and that lack a symbol version which another one needs.

The loader refuses it: "libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by ...)". A library without any
version is accepted. Source: glibc, elf/dl-version.c (match_symbol).
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError
from doctor.host.snapshot import remembered
from doctor.loader.process import Mapped, Process


class LackedVersion(NamedTuple):
    """One library in the process without a version that another one needs."""

    library: Mapped
    asker: Mapped
    version: str  # "GLIBCXX_3.4.30"


def lacked_versions(host: Host, process: Process) -> Iterator[LackedVersion]:
    """Yield each library that a variable leads to and that lacks a version, with the first that needs it."""
    for library in [one for one in process.mapped if one.found.way.rule.variable]:
        defined = defined_versions(host, library.library.path)
        asking = (one for one in process.mapped if defined and library.name in one.library.needed)
        needed = ((one, text) for one in asking for text in _needed(host, one.library.path, library.name))
        found = next(((one, version) for one, version in needed if version not in defined), None)
        if found:
            yield LackedVersion(library, *found)


def defined_versions(host: Host, path: str) -> list[str]:
    """Return the symbol versions that a library defines, none where it cannot be read."""
    return _versions(host, path, "defined symbol versions")


def _needed(host: Host, path: str, name: str) -> list[str]:
    start = f"{name}:"
    return [one.removeprefix(start) for one in _versions(host, path, "needed symbol versions") if one.startswith(start)]


def _versions(host: Host, path: str, kind: str) -> list[str]:
    """Versions that a file defines; or needs, each behind its library's name. None where it cannot be read."""

    def read() -> list[str]:
        with host.open(path) as stream:
            elf = Elf(stream)
            if kind.startswith("defined"):
                return list(elf.defined_versions)
            return [f"{library}:{version}" for library, version in elf.needed_versions]

    try:
        return remembered(host, path, kind, read, _are_texts)
    except (HostError, ElfError):
        return []


def _are_texts(said: object) -> bool:
    return isinstance(said, list) and all(isinstance(one, str) for one in said)
