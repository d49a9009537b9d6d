"""Who opens what lies in some directories, as the kernel tells: fanotify(7), which names the process, else inotify(7).

Without the process's number, somebody who walks over all of /dev/shm would look like an escape of ours.
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Protocol

_OPEN, _ACCESS, _OF_DIRECTORIES, _OF_CHILDREN = 0x20, 0x1, 0x40000000, 0x08000000  # the same in both
_ADD, _HERE = 1, -100  # FAN_MARK_ADD, AT_FDCWD
_CLOSE_ON_EXEC, _NOT_WAITING = 1, 2  # FAN_CLOEXEC, FAN_NONBLOCK


class Guard(Protocol):
    """Watches directories."""

    def opened(self) -> list[str]:
        """What was opened or listed since the last question."""


def guard_of(directories: list[bytes]) -> Guard:
    """By fanotify where this process may (root), else by inotify."""
    try:
        return _Fanotify(directories)
    except OSError:
        return _Inotify(directories)


def _checked(found: int) -> int:
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


class _Fanotify:
    def __init__(self, directories: list[bytes]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = _checked(libc.fanotify_init(_CLOSE_ON_EXEC | _NOT_WAITING, os.O_RDONLY))
        mask = ctypes.c_uint64(_OPEN | _ACCESS | _OF_DIRECTORIES | _OF_CHILDREN)
        for directory in directories:
            _checked(libc.fanotify_mark(self._descriptor, _ADD, mask, _HERE, directory))

    def opened(self) -> list[str]:
        found = []
        while events := _read(self._descriptor):
            place = 0
            while place < len(events):
                size, _, _, _, mask, file, process = struct.unpack_from("=IBBHQii", events, place)
                if _is_ours(process):
                    found.append(f"{os.readlink(f'/proc/self/fd/{file}')}:{mask:x}")
                os.close(file)
                place += size
        return found


def _is_ours(process: int) -> bool:
    """This process or a child of its process group."""
    try:
        return process == os.getpid() or os.getpgid(process) == os.getpgid(0)
    except ProcessLookupError:
        return False


class _Inotify:
    def __init__(self, directories: list[bytes]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = _checked(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        for directory in directories:
            _checked(libc.inotify_add_watch(self._descriptor, directory, _OPEN | _ACCESS))

    def opened(self) -> list[str]:
        found = []
        while events := _read(self._descriptor):
            place = 0
            while place < len(events):
                _, mask, _, size = struct.unpack_from("iIII", events, place)
                name = events[place + 16 : place + 16 + size].rstrip(bytes(1)).decode(errors="replace")
                found.append(f"{name}:{mask:x}")
                place += 16 + size
        return found


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return b""
