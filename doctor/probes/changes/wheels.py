"""When pip or uv installed what is in an environment now, by the times of the records that they write last.

What was there before, no file tells. Where all are of one time, the environment was copied or made at once, and the
times say nothing of a package. Source: PEP 376 and the packaging specification "Recording installed projects".
"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.host.optional_reads import text_of
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Place, value_or
from doctor.probes.changes import Change, Source

_AT_ONCE_S = 60.0
_SUFFIX = ".dist-info"


def _read(host: Host, environments: tuple[Environment, ...], _since_s: float) -> Iterator[Change]:
    for one in environments:
        found = list(_installed(host, one))
        times = [each.at_s for each in found]
        if times and max(times) - min(times) > _AT_ONCE_S:
            yield from found


def _installed(host: Host, environment: Environment) -> Iterator[Change]:
    for one in value_or(environment.distributions, ()):
        record = f"{one.metadata}/RECORD"
        if one.kind != "wheel" or not one.metadata.endswith(_SUFFIX):
            continue
        try:
            at_s = host.status(record).mtime
        except HostError:
            continue
        by = text_of(host, f"{one.metadata}/INSTALLER").strip()[:40]
        place = Place(one.metadata)
        yield Change(at_s, "installed", one.name, place, new=one.version, by=by, where=environment.prefix)


SOURCE = Source("pip and uv", _read, is_log=False)
