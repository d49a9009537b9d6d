"""Limit this process, so that what a hostile input could still take ends as one line; subprocesses are not limited.

Only soft limits change, so that they can be lifted. Source: getrlimit(2).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from compat.base.errors import GpudoctorError

_before: dict[int, tuple[int, int]] = {}  # what is limited, and how it was


class TooMuchTime(GpudoctorError):
    """This process took all the CPU time that it may take."""


def limit_this_process(data_bytes: int, cpu_s: int) -> None:
    """Let Python raise MemoryError and TooMuchTime from here on."""
    try:
        import resource  # late: POSIX only
        import signal
    except ImportError:
        return

    def end(*_: object) -> None:
        raise TooMuchTime(f"given up: it took more than {cpu_s} s of CPU time")

    for name, most in ((resource.RLIMIT_DATA, data_bytes), (resource.RLIMIT_CPU, cpu_s)):
        limits = resource.getrlimit(name)
        if all(one == resource.RLIM_INFINITY or one > most for one in limits):
            resource.setrlimit(name, (most, limits[1]))
            _before[name] = limits
    if hasattr(signal, "SIGXCPU"):
        signal.signal(signal.SIGXCPU, end)


@contextlib.contextmanager
def lifted_limits() -> Iterator[None]:
    """Lift the limits while a subprocess starts, which inherits what it finds."""
    if not _before:
        yield
        return
    import resource

    limits = {name: resource.getrlimit(name) for name in _before}
    for name, before in _before.items():
        resource.setrlimit(name, before)
    try:
        yield
    finally:
        for name, limit in limits.items():
            resource.setrlimit(name, limit)
