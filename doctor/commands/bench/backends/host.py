"""The CPU: NumPy, with the BLAS that it was built with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from doctor.commands.bench.backends.im2col import Im2col
from doctor.commands.bench.operations import Operations
from doctor.commands.bench.shapes import Geometry

# Columns that stay within a desktop processor's last cache: larger ones were slower, smaller ones no faster.
_COLUMNS_BYTES = 16 << 20


class HostBackend:
    """NumPy."""

    clock = "perf_counter"
    stream = 0
    algorithms: Mapping[str, str] = {}

    def __init__(self) -> None:
        """Load NumPy; raises ImportError where there is none."""
        import numpy as np  # late: only the child that measures has any use for it

        self.xp: Any = np
        self.operations = Operations(np)

    def convolver(self, name: str, geometry: Geometry, batch: int) -> Im2col:
        """By im2col."""
        return Im2col(self.xp, geometry, _COLUMNS_BYTES)

    def seconds(self, work: Callable[[], None], times: int = 1) -> list[float]:
        """By the clock on the wall."""
        taken = []
        for _ in range(times):
            started = time.perf_counter()
            work()
            taken.append(time.perf_counter() - started)
        return taken

    def address(self, array: Any) -> int:
        """In host memory."""
        return int(array.ctypes.data)

    def peak_bytes(self) -> int:
        """The process's largest resident size."""
        try:
            import resource  # late: POSIX only
        except ImportError:
            return 0
        import sys

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
