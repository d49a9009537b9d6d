"""ld.so.cache: which file the loader takes for a name that no search path answered.

Sources: ld.so(8), ldconfig(8); glibc's `sysdeps/generic/dl-cache.h`.
"""

import struct
from collections.abc import Iterator

from doctor.host import Host, HostError, Missing
from doctor.model.facts.loader import CacheEntry
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

CACHE = "/etc/ld.so.cache"
_CACHE_AT_MOST_BYTES = 16 << 20
_NAME_AT_MOST_BYTES = 4096
_ENTRIES_AT_MOST_BYTES = 2 << 20  # of the names together, and 64 for each: a workstation's 5,000 take 0.7 MiB
_OLD_MAGIC, _NEW_MAGIC = b"ld.so-1.7.0", b"glibc-ld.so.cache1.1"
_OLD_HEADER_BYTES, _NEW_HEADER_BYTES = 16, 48
_BIG_ENDIAN = 3  # cache_file_new_flags_endian_big

_EXTENSION_MAGIC, _LEVELS_TAG = 0xEAA42174, 1  # cache_extension_magic, cache_extension_tag_glibc_hwcaps
_EXTENSIONS_AT_MOST = 16
_HAS_LEVEL = 1 << 30  # DL_CACHE_HWCAP_EXTENSION, in the upper half of the entry's last number
_ISA_LEVELS = 0x3FF  # DL_CACHE_HWCAP_ISA_LEVEL_MASK

_OF_INTEREST = tuple(
    b"lib" + stem for stem in (b"cud", b"nv", b"cublas", b"cufft", b"curand", b"cusolver", b"cusparse", b"nccl")
)

# The second byte of an entry's flags (FLAG_REQUIRED_MASK); 0 is the 32-bit ABI of whatever machine wrote the cache.
_MACHINES = {
    0x00: "i386",
    0x03: "x86_64",
    0x04: "s390x",
    0x05: "ppc64le",
    0x08: "x32",
    0x09: "arm",
    0x0A: "aarch64",
    0x0B: "arm",
    0x10: "riscv64",
}


class _TooLarge(Exception):
    """More entries than a loader's cache has."""


def whole_cache(host: Host) -> Fact[tuple[CacheEntry, ...]]:
    """Every entry of ld.so.cache, in its order."""
    return _cache(host, (b"",))


def cuda_in_cache(host: Host) -> Fact[tuple[CacheEntry, ...]]:
    """The entries of CUDA's, cuDNN's and the driver's libraries."""
    return _cache(host, _OF_INTEREST)


def named_in_cache(host: Host, name: str) -> Fact[tuple[CacheEntry, ...]]:
    """The entries whose name starts so: for the search for one library."""
    return _cache(host, (name.encode(),))


def _cache(host: Host, of_interest: tuple[bytes, ...]) -> Fact[tuple[CacheEntry, ...]]:
    if host.os_family != "linux":
        return Seen((), "there is no such cache on this system")
    added = tuple(_foreseen(host))
    try:
        content = host.read_bytes(CACHE, _CACHE_AT_MOST_BYTES)
    except Missing:
        return Seen(added, f"there is no {CACHE}")
    except HostError as error:
        return Unseen(str(error))
    try:
        return Seen((*_entries(content, of_interest), *added), Place(CACHE))
    except _TooLarge:
        return Unseen(f"{CACHE} holds more than the {_ENTRIES_AT_MOST_BYTES >> 20} MiB of names that are read")
    except (struct.error, ValueError):
        return Unseen(f"{CACHE} is damaged: run ldconfig")


def _foreseen(host: Host) -> Iterator[CacheEntry]:
    """What a remedy would add (`doctor.host.overlay`)."""
    from doctor.loader.library import read_library  # late: only an overlay has any

    for soname, path in getattr(host, "cached", ()):
        library = read_library(host, path)
        if library:
            yield CacheEntry(soname, path, library.machine)


def _entries(content: bytes, of_interest: tuple[bytes, ...]) -> Iterator[CacheEntry]:
    """The entries whose name starts so; raises struct.error, ValueError for a damaged cache."""
    base = 0
    if content.startswith(_OLD_MAGIC):
        (libraries,) = struct.unpack_from("<I", content, 12)
        end = _OLD_HEADER_BYTES + 12 * libraries
        base = (end + 7) & ~7  # a new cache may follow the old table, aligned as its 64-bit numbers are
        if not content.startswith(_NEW_MAGIC, base):
            table = content[_OLD_HEADER_BYTES:end]
            yield from _read(content, struct.iter_unpack("<iII", table), end, of_interest, ())
            return
    if not content.startswith(_NEW_MAGIC, base):
        raise ValueError("not a loader cache")
    (flags,) = struct.unpack_from("B", content, base + 28)
    order = ">" if flags & 3 == _BIG_ENDIAN else "<"
    (libraries,) = struct.unpack_from(f"{order}I", content, base + 20)
    start = base + _NEW_HEADER_BYTES
    rows = struct.iter_unpack(f"{order}iIIIQ", content[start : start + 24 * libraries])
    yield from _read(content, rows, base, of_interest, _levels(content, base, order))


def _read(
    content: bytes,
    rows: Iterator[tuple[int, ...]],
    strings: int,
    of_interest: tuple[bytes, ...],
    levels: tuple[str, ...],
) -> Iterator[CacheEntry]:
    """Entries whose name is of interest; `strings` is what the places of their names count from."""
    left = _ENTRIES_AT_MOST_BYTES
    for flags, name, path, *more in rows:
        if content.startswith(of_interest, strings + name):
            machine = _MACHINES.get(flags >> 8 & 0xFF, f"ABI {flags:#x}")
            level = _level(more[1], levels) if more else ""
            entry = CacheEntry(_text(content, strings + name), _text(content, strings + path), machine, level)
            left -= len(entry.soname) + len(entry.path) + 64
            if left < 0:
                raise _TooLarge
            yield entry


def _level(hwcap: int, levels: tuple[str, ...]) -> str:
    """The level of processors that an entry is for; before glibc 2.33 its number was a set of abilities."""
    number = hwcap & 0xFFFFFFFF
    if (hwcap >> 32) & ~_ISA_LEVELS == _HAS_LEVEL and number < len(levels):
        return levels[number] or "of none"
    return "of old" if hwcap else ""


def _levels(content: bytes, base: int, order: str) -> tuple[str, ...]:
    """The names below glibc-hwcaps that entries refer to; raises struct.error, ValueError.

    All places count from the file's beginning, behind an old table too. There ldconfig lets those of the names count
    from the new table, and the loader does not: it reads other texts, and takes no entry for better processors.
    Source: glibc's `cache_extension_load`; seen with 2.36.
    """
    (place,) = struct.unpack_from(f"{order}I", content, base + 32)
    if not place:
        return ()
    magic, sections = struct.unpack_from(f"{order}II", content, place)
    if magic != _EXTENSION_MAGIC:
        return ()
    for number in range(min(sections, _EXTENSIONS_AT_MOST)):
        tag, _, start, size = struct.unpack_from(f"{order}4I", content, place + 8 + 16 * number)
        if tag == _LEVELS_TAG:
            names = struct.iter_unpack(f"{order}I", content[start : start + (size & ~3)])
            return tuple(_text(content, name) for (name,) in names)
    return ()


def _text(content: bytes, start: int) -> str:
    end = content.index(b"\0", start, start + _NAME_AT_MOST_BYTES)
    return content[start:end].decode("utf-8", "replace")
