"""Lists of the system's packages (`dpkg -l`, `apt list --installed`, `rpm -qa`): the release of the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_DRIVER = (
    r"(?:nvidia-driver(?:-\d{3}(?:-server)?(?:-open)?)?|libnvidia-compute-\d{3}(?:-server)?"
    r"|libcuda1|nvidia-driver-cuda)"
)
_RELEASE = r"(?:\d:)?(\d{3}\.\d{1,3}(?:\.\d{1,3})?)-\S+"
# dpkg's two letters: what is wished and what is there; "ii" is installed, "hi" held and installed.
_DPKG = rf"^ *[hi]i +{_DRIVER}(?::\w+)? +{_RELEASE} +(amd64|arm64)\b"
_APT = rf"^ *{_DRIVER}/\S+ {_RELEASE} (amd64|arm64) \[installed"
_RPM = rf"^ *{_DRIVER}-{_RELEASE}\.(x86_64|aarch64) *$"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        if found := re.match(_DPKG, line.text) or re.match(_APT, line.text) or re.match(_RPM, line.text):
            yield Said(Field.DRIVER_PACKAGE, found[1], line.number)
            yield Said(Field.MACHINE, _MACHINES.get(found[2], found[2]), line.number)
            yield Said(Field.FAMILY, "linux", line.number)


DUMP = Dump(
    title="list of system packages",
    mark=rf"^ *[hi]i +{_DRIVER}(?::\w+)? +\d|^ *{_DRIVER}/\S+ (?:\d:)?\d{{3}}\."
    rf"|^ *{_DRIVER}-(?:\d:)?\d{{3}}\.[\d.]+-\S+\.(?:x86_64|aarch64)",
    tell=_tell,
    source="dpkg: src/query.c; apt: apt-private/private-output.cc; rpm: rpmpopt, -qa",
)
