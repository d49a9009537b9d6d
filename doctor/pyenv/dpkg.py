"""What dpkg has installed, by its status file: Debian, Ubuntu and their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from doctor.host import Host

STATUS = "/var/lib/dpkg/status"
_STATUS_AT_MOST_BYTES = 16 << 20  # a desktop has 8 MiB
_STANZA_AT_MOST_BYTES = 64 << 10
_PACKAGES_AT_MOST = 100


class DebianPackage(NamedTuple):
    """An installed package."""

    name: str
    version: str  # with epoch and revision


def status_of(host: Host) -> bytes:
    """The status file, a stanza a package; raises HostError."""
    return host.read_bytes(STATUS, _STATUS_AT_MOST_BYTES)


def installed(host: Host, names: str) -> Iterator[DebianPackage]:
    """The installed packages whose whole name a regular expression matches, in the file's order; raises HostError."""
    status = status_of(host)
    pattern = re.compile(rb"^Package: (%b)$" % names.encode(), re.MULTILINE)
    for _, match in zip(range(_PACKAGES_AT_MOST), pattern.finditer(status), strict=False):
        stanza = status[match.start() : match.start() + _STANZA_AT_MOST_BYTES].partition(b"\n\n")[0]
        version = re.search(rb"^Version: (\S+)$", stanza, re.MULTILINE)
        if version and re.search(rb"^Status: \S+ \S+ installed$", stanza, re.MULTILINE):
            yield DebianPackage(match[1].decode("utf-8", "replace"), version[1].decode("utf-8", "replace"))
