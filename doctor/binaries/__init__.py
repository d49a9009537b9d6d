"""Readers of binaries (ELF, PE, GPU code): bounded, and nothing in a file is believed before it is bounded."""

from __future__ import annotations

from typing import BinaryIO

from compat.error import GpudoctorError


class NotRead(GpudoctorError):
    """A bound of ours, or the system, ended the reading: this says nothing about the file, and is no damage."""


class Pieces:
    """A file that is read piece by piece, each within its size. Readers of a format name the errors they raise."""

    damaged: type[GpudoctorError]
    not_read: type[NotRead]

    def __init__(self, stream: BinaryIO) -> None:
        """`stream` must stay open as long as questions are asked; raises `not_read`."""
        self._stream = stream
        try:
            self.size_bytes = stream.seek(0, 2)
        except OSError as error:
            raise self.not_read(f"cannot be read: {error.strerror}") from error

    def _read(self, offset: int, size: int) -> bytes:
        if offset < 0 or size < 0 or offset + size > self.size_bytes:
            raise self.damaged(f"it ends after {self.size_bytes} bytes, before what its headers speak of")
        try:
            self._stream.seek(offset)
            content = self._stream.read(size)
        except OSError as error:
            raise self.not_read(f"cannot be read: {error.strerror}") from error
        if len(content) != size:
            raise self.not_read("it became shorter while it was read")
        return content
