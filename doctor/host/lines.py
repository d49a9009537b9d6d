"""A long list in a file (RECORD, modules.dep), line by line: no more than one line of it is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.host import Host, Unreadable

_LINE_AT_MOST_BYTES = 16 << 10  # paths have 4 KiB


def lines_of(host: Host, path: str, limit_bytes: int, lines_at_most: int) -> Iterator[str]:
    """The lines without their ends; raises Missing, Unreadable (also where there is more, or a line without end)."""
    with host.open(path) as stream:
        left = limit_bytes
        for _ in range(lines_at_most + 1):
            try:
                line = stream.readline(_LINE_AT_MOST_BYTES)
            except OSError as error:
                raise Unreadable(path, str(error)) from error
            if not line:
                return
            left -= len(line)
            if left < 0 or (len(line) == _LINE_AT_MOST_BYTES and not line.endswith(b"\n")):
                break
            yield line.decode("utf-8", "replace").rstrip("\r\n")
    raise Unreadable(path, f"larger than the {limit_bytes} bytes and {lines_at_most} lines that such a list may have")
