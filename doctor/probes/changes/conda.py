"""The revisions of a conda environment.

Source: conda's core/../history.py: "==> TIME <==", "# cmd: …", then "-channel/subdir::name-version-build" and "+…".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.host import Host
from doctor.model.facts.environment import Environment
from doctor.probes.changes import Change, Source, local_time, log_lines

_PACKAGE = re.compile(r"(\S+)-([^\s-]+)-[^\s-]+")


def _read(host: Host, environments: tuple[Environment, ...], since_s: float) -> Iterator[Change]:
    for one in environments:
        if one.kind == "conda":
            yield from _revisions(host, one.prefix, since_s)


def _revisions(host: Host, prefix: str, since_s: float) -> Iterator[Change]:
    at_s, by = None, ""
    gone: dict[str, Change] = {}
    for _number, line, place in log_lines(host, f"{prefix}/conda-meta/history", since_s):
        if line.startswith("==> "):
            yield from gone.values()
            at_s, by, gone = local_time(line.strip("=<> ")), "", {}
        elif line.startswith("# cmd: "):
            by = line.removeprefix("# cmd: ")
        found = _PACKAGE.fullmatch(line[1:].rpartition("::")[2])
        if found is None or at_s is None or line[0] not in "+-":
            continue
        name, release = found.groups()
        if line[0] == "-":
            gone[name] = Change(at_s, "removed", name, place, old=release, by=by, where=prefix)
            continue
        before = gone.pop(name, None)
        what = "upgraded" if before else "installed"
        yield Change(at_s, what, name, place, old=before.old if before else "", new=release, by=by, where=prefix)
    yield from gone.values()


SOURCE = Source("conda", _read)
