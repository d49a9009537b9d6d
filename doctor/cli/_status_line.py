"""One line on standard error that shows what takes long: only in a terminal, and gone when the work ends."""

from __future__ import annotations

import os
import sys
import time

_PATIENCE_S = 1.0  # work that ends sooner is not shown
_BLINK_S = 0.1
_MIB = 1 << 20
_USUAL_COLUMNS = 80


class StatusLine:
    """The line of one process."""

    def __init__(self) -> None:
        self._text, self._since, self._drawn = "", 0.0, 0.0
        self.is_shown = sys.stderr is not None and sys.stderr.isatty()

    def show(self, text: str, done_bytes: int = 0, total_bytes: int | None = None) -> None:
        """Show this work and its progress; "" removes the line. Work without a size is shown at once."""
        if not self.is_shown:
            return
        now = time.monotonic()
        if text != self._text:
            if self._drawn:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._drawn = 0.0
            self._text, self._since = text, now
        waits = now - self._since < _PATIENCE_S if done_bytes else self._drawn > 0
        if text and not waits and now - self._drawn >= _BLINK_S:
            self._drawn = now
            line = f"{text}{progress_of(done_bytes, total_bytes, now - self._since)}"
            print(f"\r\x1b[K{line[: _columns() - 1]}", end="", file=sys.stderr, flush=True)


LINE = StatusLine()


def progress_of(done_bytes: int, total_bytes: int | None, elapsed_s: float) -> str:
    """Return " 42 % of 540 MiB, 12 MiB/s, 26 s left"; without a total the size that is done."""
    if not done_bytes:
        return ""
    rate = done_bytes / max(elapsed_s, 0.001)
    if not total_bytes or total_bytes < done_bytes:
        return f": {done_bytes / _MIB:,.0f} MiB, {rate / _MIB:,.0f} MiB/s"
    left = f"{(total_bytes - done_bytes) / rate:,.0f} s left"
    return f": {done_bytes * 100 // total_bytes} % of {total_bytes / _MIB:,.0f} MiB, {rate / _MIB:,.0f} MiB/s, {left}"


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS
