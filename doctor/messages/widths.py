"""The kept lines as one text in English, as they were before a terminal's width was put on them."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.messages.reading import Line
from doctor.messages.translated import in_english

_WIDTHS = frozenset((80, 100, 120, 132))  # at which terminals break a line within a word


def unwrap_lines(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """One string a line; joined they are the text. Where lines fill a terminal, a second time as lines that go on."""
    width = max((line.width for line in lines), default=0)
    texts = in_english([line.text for line in lines])
    plain = tuple(f"{text}\n" for text in texts)
    if width not in _WIDTHS or len(lines) == 1:
        return (plain,)
    return plain, tuple(text + ("" if line.width == width else "\n") for text, line in zip(texts, lines, strict=True))
