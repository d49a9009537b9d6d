"""When the machine was started.

Sources: utmp(5) (records of 384 bytes on Linux; type 2 is BOOT_TIME, the time in seconds at byte 340), proc(5) (btime).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from doctor.host import Host, HostError
from doctor.host.optional_reads import text_of
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Place
from doctor.probes.changes import Change, Source

_WTMP, _STAT = "/var/log/wtmp", "/proc/stat"
_RECORD_BYTES, _TIME_AT, _BOOT_TIME = 384, 340, 2
_WTMP_BYTES = 16 << 20
_KERNEL = slice(76, 332)  # of a boot's record, the release of the kernel


def _read(host: Host, _: tuple[Environment, ...], _since_s: float) -> Iterator[Change]:
    try:
        content = host.read_bytes(_WTMP, _WTMP_BYTES)
    except HostError:
        content = b""
    for at in range(0, len(content) - _RECORD_BYTES + 1, _RECORD_BYTES):
        record = content[at : at + _RECORD_BYTES]
        if struct.unpack_from("<h", record)[0] == _BOOT_TIME:
            kernel = record[_KERNEL].partition(b"\0")[0].decode("utf-8", "replace")
            at_s = float(struct.unpack_from("<i", record, _TIME_AT)[0])
            yield Change(at_s, "started", "machine", Place(_WTMP), new=kernel)
    found = re.search(r"^btime (\d{1,12})$", text_of(host, _STAT), re.MULTILINE)
    if found and host.is_live:
        yield Change(float(found[1]), "started", "machine", Place(_STAT))


SOURCE = Source("boots", _read)
