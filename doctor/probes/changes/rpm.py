"""dnf's record of what rpm did, on Fedora, RHEL and their kin.

Source: dnf's log /var/log/dnf.rpm.log: "2024-05-01T10:00:00+0200 SUBDEBUG Upgrade: name-version-release.arch".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.environment import Environment
from doctor.probes.changes import Change, Source, log_lines, zoned_time

_LOG = "/var/log/dnf.rpm.log"
_KINDS = {"Installed": "installed", "Upgrade": "upgraded", "Downgrade": "downgraded", "Erase": "removed"}
_LINE = re.compile(
    r"(\S+) \S+ (Installed|Upgrade|Upgraded|Downgrade|Downgraded|Erase): (\S+)-([^\s-]+-[^\s-]+)\.[a-z0-9_]+$"
)


def _read(host: Host, _: tuple[Environment, ...], since_s: float) -> Iterator[Change]:
    """The release that goes is written after the one that comes."""
    waiting: dict[str, Change] = {}
    for _number, line, place in log_lines(host, _LOG, since_s):
        found = _LINE.match(line)
        at_s = zoned_time(found[1]) if found else None
        if found is None or at_s is None:
            continue
        kind, name, release = found[2], found[3], found[4]
        if kind in {"Upgraded", "Downgraded"}:
            if name in waiting:
                yield waiting.pop(name)._replace(old=release)
            continue
        what = _KINDS[kind]
        change = Change(at_s, what, name, place, old=release if what == "removed" else "", by="dnf")
        if what == "removed":
            yield change
        elif what == "installed":
            yield change._replace(new=release)
        else:
            waiting[name] = change._replace(new=release)
    yield from waiting.values()


SOURCE = Source("dnf", _read)
