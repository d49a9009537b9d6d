"""`lsmod`: the kernel modules that are loaded, of NVIDIA and nouveau."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.commands.explain.dump import Dump, Field, Said
from doctor.messages.reading import Line

_LOADED = r"^ *(nvidia(?:_uvm|_drm|_modeset)?|nouveau|nova_core) +\d{3,9} +-?\d{1,4}(?: +[\w,]+)? *$"


def _tell(lines: tuple[Line, ...]) -> Iterator[Said]:
    for line in lines:
        if found := re.match(_LOADED, line.text):
            yield Said(Field.MODULE, found[1], line.number)
            yield Said(Field.FAMILY, "linux", line.number)


DUMP = Dump(
    title="lsmod",
    mark=r"^ *(?:nvidia(?:_uvm|_drm|_modeset)?|nouveau|nova_core) +\d{3,9} +-?\d{1,4}(?: +[\w,]+)? *$",
    tell=_tell,
    source="kmod-project/kmod: tools/lsmod.c",
)
