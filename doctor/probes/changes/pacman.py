"""pacman's log. Source: pacman's lib/libalpm/log.c: "[TIME] [ALPM] upgraded linux (6.8.1-1 -> 6.9.1-1)"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.environment import Environment
from doctor.probes.changes import Change, Source, log_lines, zoned_time

_LOG = "/var/log/pacman.log"
_LINE = re.compile(
    r"\[([^\]]+)\] \[ALPM\] (installed|reinstalled|upgraded|downgraded|removed) (\S+) \(([^ )]+)(?: -> ([^ )]+))?\)"
)
_COMMAND = re.compile(r"\[[^\]]+\] \[PACMAN\] Running '(.*)'$")


def _read(host: Host, _: tuple[Environment, ...], since_s: float) -> Iterator[Change]:
    by = ""
    for _number, line, place in log_lines(host, _LOG, since_s):
        command, found = _COMMAND.match(line), _LINE.match(line)
        by = command[1] if command else by
        at_s = zoned_time(found[1]) if found else None
        if found is None or at_s is None:
            continue
        what = found[2].removeprefix("re")
        if what == "moved":
            what = "removed"
        old = found[4] if found[5] or what == "removed" else ""
        new = found[5] or ("" if what == "removed" else found[4])
        yield Change(at_s, what, found[3], place, old=old, new=new, by=by)


SOURCE = Source("pacman", _read)
