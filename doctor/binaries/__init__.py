"""Readers of binaries (ELF, PE, GPU code): bounded, and nothing in a file is believed before it is bounded."""

from __future__ import annotations

import struct
from typing import BinaryIO

from compat.base.errors import GpudoctorError
from doctor.host import Host, HostError

# e_machine of the ELF specification, Machine of the PE specification.
_ELF_MACHINES = {3: "i386", 21: "ppc64le", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_PE_MACHINES = {0x14C: "i386", 0x8664: "x86_64", 0xAA64: "aarch64"}


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


def machine_of_file(host: Host, path: str) -> str:
    """What a program was built for, from its first bytes; "" where they do not say."""
    try:
        with host.open(path) as stream:
            head = stream.read(4096)
    except (HostError, OSError):
        return ""
    if head[:4] == b"\x7fELF" and len(head) >= 20:
        order = ">" if head[5] == 2 else "<"
        return _ELF_MACHINES.get(struct.unpack_from(order + "H", head, 18)[0], "")
    if head[:2] == b"MZ" and len(head) >= 64:
        offset: int = struct.unpack_from("<I", head, 60)[0]
        if head[offset : offset + 4] == b"PE\0\0" and len(head) >= offset + 6:
            return _PE_MACHINES.get(struct.unpack_from("<H", head, offset + 4)[0], "")
    return ""
