"""Texts among the constants of a library or program: some MiB to search, so what was found is remembered."""

from __future__ import annotations

from doctor.binaries.elf import Elf
from doctor.host import Host
from doctor.host.snapshot import remembered


def text_among_constants(host: Host, path: str, prefix: bytes, limit_bytes: int) -> str:
    """The first text that starts so, "" for none in the first `limit_bytes`; raises HostError, ElfError."""

    def read() -> str:
        with host.open(path) as stream:
            return Elf(stream).find_text(".rodata", prefix, limit_bytes)

    return remembered(host, path, memory_of_text(prefix), read, lambda said: isinstance(said, str))


def memory_of_text(prefix: bytes) -> str:
    """The kind of memory (`doctor.host.snapshot.remembered`) that holds the text that starts so."""
    return f"text: {prefix.decode()}"
