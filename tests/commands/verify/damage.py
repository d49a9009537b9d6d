"""Copies of real cuDNN releases, damaged: each a directory of hard links, in which one file is changed."""

from __future__ import annotations

import os
from pathlib import Path

BYTES_AT_ONCE = 1 << 22


def linked(site: Path, target: Path) -> Path:
    """The same tree of files again, without copying what is in them."""
    for folder, _, names in os.walk(site):
        there = target / Path(folder).relative_to(site)
        there.mkdir(parents=True, exist_ok=True)
        for name in names:
            os.link(Path(folder) / name, there / name)
    return target


def missing(path: Path) -> None:
    """The file is gone."""
    path.unlink()


def truncated(path: Path) -> None:
    """An unfinished download or copy: two thirds of the file."""
    wanted = path.stat().st_size * 2 // 3
    with path.open("rb") as whole:
        path.unlink()
        with path.open("wb") as part:
            while wanted > 0:
                part.write(whole.read(min(wanted, BYTES_AT_ONCE)))
                wanted -= BYTES_AT_ONCE


def emptied(path: Path) -> None:
    """A full disk leaves names without content."""
    path.unlink()
    path.touch()


def replaced(path: Path, other: Path) -> None:
    """The same part of another release."""
    path.unlink()
    os.link(other, path)
