"""nvidia-bug-report.sh, or the kernel's log alone: the system, the loaded module, and the kernel's lines about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_UNAME = re.compile(r"^ *uname: Linux \S+ (\S+) .*?\b(x86_64|aarch64|ppc64le)\b")
_NAMED = r"NVIDIA UNIX (Open Kernel Module for \w+|\w+ Kernel Module) +(\d+\.\d+(?:\.\d+)?)"
_MODULE = re.compile(rf"^ *NVRM version: {_NAMED}")
_LOADED = re.compile(rf"NVRM: loading {_NAMED}")  # at a start, which may be an earlier one
_RELEASE = re.compile(r'^ *PRETTY_NAME="?([^"]+)"?')
_ISSUE = re.compile(r"^ *((?:Ubuntu|Debian GNU/Linux|Fedora|Arch|Rocky|AlmaLinux|Red Hat)[^\\]*)(?:\\n.*)?$")
_KERNEL = re.compile(r"NVRM: |nouveau|module verification failed|Key was rejected|nvidia: module")
_LINES = 2000  # of the kernel, the last


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    kernel: list[Said] = []
    loaded: tuple[Said, ...] = ()
    is_told = after_issue = False
    for line in lines:
        if found := _UNAME.match(line.text):
            yield Said(Field.PLATFORM, f"Linux-{found[1]}-{found[2]}", line.number)
        elif found := _MODULE.match(line.text):
            yield from _module(found, line)
            is_told = True
        elif found := _RELEASE.match(line.text) or (_ISSUE.match(line.text) if after_issue else None):
            yield Said(Field.SYSTEM, found[1].rstrip(), line.number)
        elif _KERNEL.search(line.text):
            kernel.append(Said(Field.KERNEL_LOG, line.text.strip(), line.number))
            if found := _LOADED.search(line.text):
                loaded = tuple(_module(found, line))
        heading = line.text.lstrip()
        after_issue = heading.startswith("*** /etc/issue") or (after_issue and heading.startswith("*** ls:"))
    yield from () if is_told else loaded
    yield from kernel[-_LINES:]


def _module(found: re.Match[str], line: Line) -> Iterator[Said]:
    yield Said(Field.FLAVOUR, "open" if found[1].startswith("Open") else "proprietary", line.number)
    yield Said(Field.DRIVER, found[2], line.number)


DUMP = Dump(
    title="nvidia-bug-report",
    mark=r"^ *Start of NVIDIA bug report log file|NVRM(?: version:|: loading) NVIDIA UNIX",
    tell=_tell,
    source="nvidia-bug-report.sh of the drivers 190 to 580; /proc/driver/nvidia/version; kernel-open/nvidia/nv.c",
)
