"""The release of nvJitLink by the functions that it has, whatever its file is called.

It exports its functions once for each minor release since 12.0, `__nvJitLinkAddData_12_8` the newest of
nvidia-nvjitlink-cu12 12.8.93; cuSPARSE and cuSOLVER ask for those of their own release.
"""

from __future__ import annotations

import re

from doctor.binaries.elf import Elf, ElfError
from doctor.facts.loader import Prediction
from doctor.facts.seen import value_or
from doctor.host import Host, HostError

_NAME, _SINCE = "libnvJitLink.so", "__nvJitLinkAddData_"


def releases_of(host: Host, one: Prediction) -> tuple[str, str]:
    """Of the file that is loaded and of the one that is meant, where these are two; "" where one does not tell."""
    if not one.soname.startswith(_NAME) or one.is_as_intended:
        return "", ""
    return _release(host, value_or(one.path, "")), _release(host, value_or(one.intended, ""))


def _release(host: Host, path: str) -> str:
    if not path:
        return ""
    try:
        with host.open(path) as stream:
            names = Elf(stream).names(_SINCE)
    except (HostError, ElfError):
        return ""
    found = [tuple(map(int, one.removeprefix(_SINCE).split("_"))) for one in names if re.search(r"_\d+_\d+$", one)]
    return ".".join(map(str, max(found, default=())))
