"""The directories below a search directory that the loader tries first on a better processor.

Sources: ld.so(8), "Hardware capabilities"; glibc's `sysdeps/x86_64/dl-hwcaps_subdirs.c`, `sysdeps/x86/cpu-features.c`
(2.33 brought glibc-hwcaps, 2.37 took the older directories away); the x86-64 psABI for the levels.
"""

from __future__ import annotations

from doctor.host import Host, HostError
from doctor.model.facts.seen import Fact, Place, Seen, Unseen

_FOLDER = "glibc-hwcaps"
_CPUINFO = "/proc/cpuinfo"
_CPUINFO_BYTES = 1 << 20
_LEVELS = (  # best first, with the words of /proc/cpuinfo
    ("x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    ("x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"),
    ("x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"),
)
_OLD_PLATFORM = "avx2 bmi1 bmi2 abm movbe popcnt fma"
_FIRST_WITH, _FIRST_WITHOUT_OLD = (2, 33), (2, 37)  # releases of glibc


class Levels:
    """The subdirectories that count on this machine, or, on an image, those that may."""

    __slots__ = ("new", "old", "platform", "sure")

    def __init__(self, new: tuple[str, ...], old: tuple[str, ...], platform: str, *, sure: bool) -> None:
        self.new = new  # names below glibc-hwcaps
        self.old = old  # paths below a directory
        self.platform = platform  # what $PLATFORM stands for, "" where that is not known
        self.sure = sure  # whether it is known that exactly these count

    @property
    def folders(self) -> tuple[str, ...]:
        """The subdirectories, first to last."""
        return (*(f"{_FOLDER}/{name}" for name in self.new), *self.old)


def levels(host: Host, machine: str) -> Levels:
    """What the loader for `machine` tries; on a root, where no processor is there to ask, all that it may try."""
    if machine != "x86_64":
        return Levels((), (), machine if machine == "aarch64" else "", sure=True)
    every = tuple(name for name, _ in _LEVELS)
    flags = _flags(host)
    release = _glibc(host)
    if isinstance(flags, Unseen) or isinstance(release, Unseen):
        return Levels(every, (), "", sure=False)
    has = {name for name, words in _LEVELS if set(words.split()) <= flags.value[1]}
    new = tuple(name for number, name in enumerate(every) if set(every[number:]) <= has)
    if release.value >= _FIRST_WITHOUT_OLD:
        return Levels(new, (), "x86_64", sure=True)
    intel = flags.value[0] == "GenuineIntel"
    platform = "haswell" if intel and set(_OLD_PLATFORM.split()) <= flags.value[1] else "x86_64"
    return Levels(new if release.value >= _FIRST_WITH else (), _old(platform), platform, sure=True)


def _old(platform: str) -> tuple[str, ...]:
    """Every selection of tls, the platform and x86_64, the larger before the smaller."""
    found: list[str] = []
    for mask in range(7, 0, -1):
        chosen = [name for bit, name in zip((4, 2, 1), ("tls", platform, "x86_64"), strict=True) if mask & bit]
        found.append("/".join(chosen))
    return tuple(dict.fromkeys(found))


def _flags(host: Host) -> Fact[tuple[str, frozenset[str]]]:
    """The vendor and the abilities of the first processor."""
    try:
        text = host.read_text(_CPUINFO, _CPUINFO_BYTES)
    except HostError as error:
        return Unseen(str(error))
    vendor = words = ""
    for line in text.split("\n\n", 1)[0].splitlines():
        name, _, value = line.partition(":")
        vendor = value.strip() if name.strip() == "vendor_id" else vendor
        words = value if name.strip() == "flags" else words
    return Seen((vendor, frozenset(words.split())), Place(_CPUINFO)) if words else Unseen(f"{_CPUINFO} names no flags")


def _glibc(host: Host) -> Fact[tuple[int, ...]]:
    try:
        text = host.libc_version()
        return Seen(tuple(map(int, text.partition(" ")[2].split(".")[:2])), text)
    except (HostError, ValueError) as error:
        return Unseen(str(error))
