"""Texts that programs print, kept as they are: a line `== CODES | where` before each, and what it says there."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent
_BEFORE = "== "


def texts(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Of one file: what was printed, and the causes that are right."""
    found: list[tuple[list[str], tuple[str, ...]]] = []
    for line in (_HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith(_BEFORE):
            found.append(([], tuple(line[len(_BEFORE) :].partition(" | ")[0].split())))
        elif found:
            found[-1][0].append(line)
    return tuple(("\n".join(lines), codes) for lines, codes in found)
