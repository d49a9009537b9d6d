"""The release of a library of CUDA's that is loaded in place of another: by its wheel, wherever that was unpacked.

nvJitLink tells it by the functions that it has, whatever its file is called: it exports them once for each minor
release since 12.0, `__nvJitLinkAddData_12_8` the newest of nvidia-nvjitlink-cu12 12.8.93; cuSPARSE and cuSOLVER ask for
those of their own release.
"""

from __future__ import annotations

import re

from doctor.binaries.elf import Elf, ElfError
from doctor.host import Host, HostError
from doctor.host.optional_reads import names_of
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen

_NAME, _SINCE = "libnvJitLink.so", "__nvJitLinkAddData_"


def releases_of(host: Host, one: Prediction) -> tuple[str, str]:
    """Of the file that is loaded and of the one that is meant, where these are two; "" where one does not tell."""
    if one.is_as_intended or not isinstance(one.path, Seen) or not isinstance(one.intended, Seen):
        return "", ""
    tell = _release if one.soname.startswith(_NAME) else _by_wheel
    return tell(host, one.path.value), tell(host, one.intended.value)


def _by_wheel(host: Host, path: str) -> str:
    """By the dist-info beside the directory "nvidia" that the file is in: another environment, pip's --target."""
    found = re.fullmatch(r"(.+)/nvidia/(\w+)/lib/[^/]+", path)
    if not found:
        return ""
    wheel = re.compile(rf"nvidia_{found[2]}(?:_cu\d+)?-(\d+(?:\.\d+)+)\.dist-info")
    releases = [match[1] for name in names_of(host, found[1]) if (match := wheel.fullmatch(name))]
    return releases[0] if len(releases) == 1 else ""


def _release(host: Host, path: str) -> str:
    try:
        with host.open(path) as stream:
            names = Elf(stream).names(_SINCE)
    except (HostError, ElfError):
        return ""
    found = [tuple(map(int, one.removeprefix(_SINCE).split("_"))) for one in names if re.search(r"_\d+_\d+$", one)]
    return ".".join(map(str, max(found, default=())))
