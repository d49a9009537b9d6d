"""apt's history: what was asked for, by whom, and what came of it.

Source: apt's own writer, apt-pkg/deb/dpkgpm.cc (WriteHistoryTag): "Start-Date", "Commandline", "Requested-By", then a
line for each kind with "name:arch (version)", "name:arch (version, automatic)" or "name:arch (old, new)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.environment import Environment
from doctor.probes.changes import Change, Source, local_time, log_lines

_LOG = "/var/log/apt/history.log"
_KINDS = {
    "Install": "installed",
    "Reinstall": "installed",
    "Upgrade": "upgraded",
    "Downgrade": "downgraded",
    "Remove": "removed",
    "Purge": "removed",
}
_PACKAGE = re.compile(r"(?<![a-z0-9+.:-])([a-z0-9][a-z0-9+.-]*)(?::[a-z0-9]+)? \(([^(),]*)(?:, ([^()]*))?\)")


def _read(host: Host, _environments: tuple[Environment, ...], since_s: float) -> Iterator[Change]:
    at_s: float | None = None
    by = ""
    for _number, line, place in log_lines(host, _LOG, since_s):
        key, _, value = line.partition(": ")
        if key == "Start-Date":
            at_s, by = local_time(value), ""
        elif key == "Commandline":
            by = value.strip()
        elif key in _KINDS and at_s is not None:
            for name, first, second in _PACKAGE.findall(value):
                yield _change(_KINDS[key], name, first, second, Change(at_s, "", "", place, by=by))


def _change(what: str, name: str, first: str, second: str, change: Change) -> Change:
    if what in {"upgraded", "downgraded"}:
        return change._replace(what=what, name=name, old=first, new=second)
    if what == "removed":
        return change._replace(what=what, name=name, old=first)
    return change._replace(what=what, name=name, new=first)


SOURCE = Source("apt", _read)
