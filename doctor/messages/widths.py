"""The kept lines as one text, as they were before a terminal's width was put on them."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.messages.reading import Line

_WIDTHS = frozenset((80, 100, 120, 132))  # at which terminals break a line within a word


def unwrap_lines(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """One string a line; joined they are the text. Where lines fill a terminal, a second time as lines that go on."""
    width = max((line.width for line in lines), default=0)
    plain = tuple(f"{line.text}\n" for line in lines)
    if width not in _WIDTHS or len(lines) == 1:
        return (plain,)
    return plain, tuple(line.text + ("" if line.width == width else "\n") for line in lines)
