"""`mokutil --sb-state`: whether Secure Boot is on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_STATE = r"^ *SecureBoot (enabled|disabled)\b"


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        if found := re.match(_STATE, line.text):
            yield Said(Field.SECURE_BOOT, "on" if found[1] == "enabled" else "off", line.number)
            yield Said(Field.FAMILY, "linux", line.number)


DUMP = Dump(
    title="mokutil --sb-state",
    mark=r"^ *SecureBoot (?:enabled|disabled)\b",
    tell=_tell,
    source="lcp/mokutil: src/mokutil.c, sb_state",
)
