"""Whether two paths of a machine lead to one place."""

from __future__ import annotations

from compat.base.paths import key_of
from doctor.host import Host, HostError


def is_same_place(left: str, right: str, host: Host) -> bool:
    """By their spelling as this system reads it, and where both are there by where links and short names lead."""
    if key_of(left, host.os_family) == key_of(right, host.os_family):
        return True
    try:
        found = [key_of(host.real_path(one), host.os_family) for one in (left, right)]
    except HostError:
        return False
    return found[0] == found[1]
