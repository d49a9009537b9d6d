"""zypper's history. Source: libzypp's HistoryLog: "DATE TIME|install|name|version|arch|requested by|repository|…|"."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.environment import Environment
from doctor.probes.changes import Change, Source, local_time, log_lines

_LOG = "/var/log/zypp/history"
_KINDS = {"install": "installed", "remove": "removed"}
_FIELDS = 5


def _read(host: Host, _: tuple[Environment, ...], since_s: float) -> Iterator[Change]:
    by = ""
    for _number, line, place in log_lines(host, _LOG, since_s):
        fields = line.split("|")
        if len(fields) < _FIELDS:
            continue
        action = fields[1].strip()
        if action == "command":
            by = fields[3].replace("'", "").strip()
        at_s = local_time(fields[0])
        if action in _KINDS and at_s is not None:
            what, release = _KINDS[action], fields[3]
            new, old = ("", release) if what == "removed" else (release, "")
            yield Change(at_s, what, fields[2], place, old=old, new=new, by=by)


SOURCE = Source("zypper", _read)
