"""zlib's unpacker with the methods that those of lzma, bz2 and zstd have."""

from __future__ import annotations

import zlib

GZIP, WITHOUT_FRAME = 31, -15  # zlib's window: with gzip's header and checksum, or without


class Gunzip:
    """Unpacks one member of a gzip file, as lzma.LZMADecompressor does one stream of xz."""

    def __init__(self, window: int = GZIP) -> None:
        self.machine = zlib.decompressobj(window)

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes of what was given."""
        return not self.machine.unconsumed_tail

    @property
    def eof(self) -> bool:
        """Whether its end was reached."""
        return self.machine.eof

    @property
    def unused_data(self) -> bytes:
        """What was given and stands behind its end."""
        return self.machine.unused_data

    def decompress(self, content: bytes, max_length: int) -> bytes:
        """At most so many bytes of what was given and is left of it; raises zlib.error."""
        return self.machine.decompress(self.machine.unconsumed_tail + content, max_length)
