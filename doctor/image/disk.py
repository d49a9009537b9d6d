"""Files that are read at places, and closed when nobody needs them any more; the unlinked file of what is kept."""

from __future__ import annotations

import os
import tempfile
import time

_WAITING_AT_MOST_BYTES = 64 << 10
_SETTLED_S = 2.0  # after its last change; the clocks of file systems have steps of two seconds and less


class Disk:
    """A file by its descriptor."""

    def __init__(self, path: str) -> None:
        """Raises OSError. A FIFO or a device is not waited for."""
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._keep(os.open(path, flags))

    def _keep(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size_bytes = os.lseek(descriptor, 0, os.SEEK_END)

    def __del__(self) -> None:
        """Close it."""
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def mark(self, place: int, size: int) -> str:
        """What tells this part of the file, as it is now, from any other; "" while it may change without a trace.

        No program can set a ctime; two changes within the clock's step share one.
        """
        status = os.fstat(self._descriptor)
        if time.time() - status.st_ctime < _SETTLED_S:
            return ""
        return (
            f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{place}:{size}"
        )

    def read(self, place: int, size: int) -> bytes:
        """These bytes, fewer where the file ends; raises OSError."""
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, place)
        os.lseek(self._descriptor, place, os.SEEK_SET)
        return os.read(self._descriptor, size)


class Scratch(Disk):
    """A temporary file without a name, which is written at its end; what is small waits in memory for more."""

    def __init__(self, limit_bytes: int) -> None:
        """Raises OSError."""
        with tempfile.TemporaryFile(prefix="gpudoctor-") as file:
            self._keep(os.dup(file.fileno()))
        self._limit_bytes = limit_bytes
        self._waiting, self._written = bytearray(), 0
        self.is_full = False

    @property
    def room_bytes(self) -> int:
        """What can still be put."""
        return self._limit_bytes - self.size_bytes

    def put(self, content: bytes | memoryview) -> int | None:
        """Where it lies; None where there is no room for it. Raises OSError for a full disk."""
        place, size = self.size_bytes, len(content)
        if place + size > self._limit_bytes:
            self.is_full = True
            return None
        self.size_bytes += size
        if size < _WAITING_AT_MOST_BYTES:
            self._waiting += content
            if len(self._waiting) >= _WAITING_AT_MOST_BYTES:
                self._write_out()
        else:
            self._write_out()
            self._write(content, place)
        return place

    def read(self, place: int, size: int) -> bytes:
        """See Disk."""
        if place >= self._written:
            return bytes(memoryview(self._waiting)[place - self._written :][:size])
        if self._waiting:
            self._write_out()
        return super().read(place, size)

    def _write_out(self) -> None:
        place = self._written
        waiting, self._waiting = self._waiting, bytearray()
        self._write(waiting, place)

    def _write(self, content: bytes | bytearray | memoryview, place: int) -> None:
        left = memoryview(content)
        while left:
            if hasattr(os, "pwrite"):
                done = os.pwrite(self._descriptor, left, place)
            else:
                os.lseek(self._descriptor, place, os.SEEK_SET)
                done = os.write(self._descriptor, left)
            left, place = left[done:], place + done
        self._written = place

    def clear(self) -> None:
        """Write from its beginning again; to give the space back to the system and ask for it again takes longer."""
        self._waiting.clear()
        self.size_bytes = self._written = 0
