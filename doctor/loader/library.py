"""What a library, or the program, says of itself that the loader goes by."""

from __future__ import annotations

import re
from typing import Any

from compat.base.record import NamedTuple
from doctor.binaries import NotRead
from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError
from doctor.host.snapshot import remembered

MEMORY = "loader"  # kind of memory (`doctor.host.snapshot.remembered`): what `_said` returns
_FIELDS = 6  # of a record, and then those that it needs


class Library(NamedTuple):
    """One ELF file as the loader sees it."""

    path: str  # as the loader opened it: $ORIGIN is its directory
    soname: str
    machine: str
    needed: tuple[str, ...]
    rpath: str | None  # None where there is no DT_RPATH, or a DT_RUNPATH beside it, which switches it off
    runpath: str | None  # "" is there, and searches nothing
    no_default: bool = False  # DF_1_NODEFLIB: neither the cache nor the default directories
    broken: bool = False  # it is of that machine, and what it says of its search cannot be read

    @property
    def name(self) -> str:
        """Its file name."""
        return self.path.rpartition("/")[2]

    @property
    def origin(self) -> str:
        """What $ORIGIN stands for: links are left as they are, as the loader leaves them."""
        return self.path.rpartition("/")[0] or "/"


_HASH = re.compile(r"-[0-9a-f]{8}(?=\.so)")


def plain_name(name: str) -> str:
    """A library's name without the hash that auditwheel gives to the copies in a repaired wheel.

    libcudart.so.11.0 of libcudart-e409450e.so.11.0.
    """
    return _HASH.sub("", name)


def read_library(host: Host, path: str) -> Library | None:
    """What a file says of its search; None for one that is not there, cannot be read or is damaged."""
    try:
        found = library_at(host, path)
    except (HostError, ElfError):
        return None
    return None if found.broken else found


def library_at(host: Host, path: str) -> Library:
    """What a file says of its search; raises HostError, ElfError, ElfNotRead."""
    said = remembered(host, path, MEMORY, lambda: _said(host, path), _is_said)
    soname, machine, rpath, runpath, no_default, broken, *needed = said
    return Library(
        path=path,
        soname=soname,
        machine=machine,
        needed=tuple(needed),
        rpath=rpath,
        runpath=runpath,
        no_default=no_default,
        broken=broken,
    )


def _said(host: Host, path: str) -> list[Any]:
    """All of a `Library` but its path; what it needs comes last."""
    with host.open(path) as stream:
        elf = Elf(stream)
        try:
            return _identity(elf)
        except NotRead:
            raise
        except ElfError:
            return ["", elf.machine, None, None, False, True]


def _identity(elf: Elf) -> list[Any]:
    runpath = elf.runpath_text
    rpath = elf.rpath_text if runpath is None else None
    return [elf.soname, elf.machine, rpath, runpath, elf.skips_default_directories, False, *elf.needed]


def _is_said(said: Any) -> bool:
    if not isinstance(said, list) or len(said) < _FIELDS:
        return False
    soname, machine, rpath, runpath, no_default, broken, *needed = said
    texts = [soname, machine, *needed, *(one for one in (rpath, runpath) if one is not None)]
    return {*map(type, texts)} == {str} and type(no_default) is type(broken) is bool


def read_program(host: Host, path: str) -> Library | None:
    """The same of a program, whose $ORIGIN the kernel tells: all links of its path are resolved."""
    try:
        return read_library(host, host.real_path(path))
    except HostError:
        return None


def text_among_constants(host: Host, path: str, prefix: bytes, limit_bytes: int) -> str:
    """The first text that starts so, "" for none in the first `limit_bytes`; raises HostError, ElfError."""

    def read() -> str:
        with host.open(path) as stream:
            return Elf(stream).find_text(".rodata", prefix, limit_bytes)

    return remembered(host, path, memory_of_text(prefix), read, lambda said: isinstance(said, str))


def memory_of_text(prefix: bytes) -> str:
    """The kind of memory (`doctor.host.snapshot.remembered`) that holds the text that starts so."""
    return f"text: {prefix.decode()}"
