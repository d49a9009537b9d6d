"""What every distribution has, and wheels ask for."""

from __future__ import annotations

from tests.lab.elf_file import elf_bytes
from tests.lab.parts import LIB, files

_NAMES = ("libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libstdc++.so.6", "libgcc_s.so.1")
USUAL = files({f"{LIB}/{name}": elf_bytes(name) for name in (*_NAMES, "libz.so.1", "libgomp.so.1")})
