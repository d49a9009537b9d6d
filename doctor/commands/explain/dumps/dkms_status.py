"""`dkms status`: for which kernels the driver's module is built."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

# "nvidia/550.54.14, 6.8.0-45-generic, x86_64: installed"; to 2.8 "nvidia, 470.82.01, ...".
_BUILD = (
    r"^ *(?P<module>nvidia[\w-]*)(?:/|, )(?P<release>\d{3}\.[\d.]+)"
    r"(?:, (?P<kernel>[\w.+-]+), (?P<machine>x86_64|aarch64|ppc64le))?: (?P<state>added|built|installed|broken)\b"
)
_STATES = {"broken": "failed"}


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        if found := re.match(_BUILD, line.text):
            state = _STATES.get(found["state"], found["state"])
            value = f"{found['module']} {found['release']} {found['kernel'] or ''} {state}"
            yield Said(Field.DKMS, value, line.number)
            yield Said(Field.DRIVER_PACKAGE, found["release"], line.number)
            yield Said(Field.FAMILY, "linux", line.number)
            if found["machine"]:
                yield Said(Field.MACHINE, found["machine"], line.number)


DUMP = Dump(
    title="dkms status",
    mark=r"^ *nvidia[\w-]*(?:/|, )\d{3}\.[\d.]+(?:, [\w.+-]+, \w+)?: (?:added|built|installed|broken)\b",
    tell=_tell,
    source="dell/dkms: dkms.in, do_status",
)
