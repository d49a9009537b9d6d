"""dpkg's log: every package, also one that no apt installed.

Source: dpkg's lib/dpkg/log.c and src/main: "DATE TIME ACTION package:arch old new", "<none>" for no release.
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.environment import Environment
from doctor.probes.changes import Change, Source, local_time, log_lines

_LOG = "/var/log/dpkg.log"
_KINDS = {"install": "installed", "upgrade": "upgraded", "remove": "removed", "purge": "removed"}
_WORDS = 6
_NONE = "<none>"


def _read(host: Host, _: tuple[Environment, ...], since_s: float) -> Iterator[Change]:
    for _number, line, place in log_lines(host, _LOG, since_s):
        words = line.split()
        if len(words) != _WORDS or words[2] not in _KINDS:
            continue
        at_s = local_time(f"{words[0]} {words[1]}")
        if at_s is None:
            continue
        old, new = ("" if one == _NONE else one for one in words[4:])
        what, name = _KINDS[words[2]], words[3].partition(":")[0]
        yield Change(at_s, what, name, place, old=old, new="" if what == "removed" else new)


SOURCE = Source("dpkg", _read)
