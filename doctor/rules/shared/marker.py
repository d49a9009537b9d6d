"""Whether the marker of a requirement holds anywhere."""

from __future__ import annotations

import re
from functools import lru_cache

from compat.specifier import marker_holds

_MACHINES = {
    "linux": ("x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "armv7l", "i686"),
    "windows": ("x86_64", "aarch64", "x86"),
    "macos": ("x86_64", "aarch64"),
}
_PYTHONS = tuple(f"3.{minor}" for minor in range(7, 16))


@lru_cache(maxsize=256)
def holds_somewhere(marker: str) -> bool | None:
    """Return whether a marker holds on one platform with one Python; None for one that cannot be read.

    Markers about extras, releases of systems and other implementations count as true.
    """
    if not marker or re.search(r"extra|platform_release|platform_version|implementation|full_version|java", marker):
        return True
    from doctor.script.locks.read import names_of  # late: only a lock file needs it

    for family, machines in _MACHINES.items():
        for machine in machines:
            for python in _PYTHONS:
                holds = marker_holds(marker, {**names_of(family, machine, python), "extra": ""})
                if holds is not False:
                    return holds
    return False
