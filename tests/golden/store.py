"""Where digests and texts are kept."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

DIGESTS = Path(__file__).parent / "digests"
_DIGITS = 12


class Digest(NamedTuple):
    """What is committed of an output."""

    sha256: str  # its first digits
    size: int


def digest_of(text: str) -> Digest:
    """Of the text as UTF-8."""
    encoded = text.encode("utf-8", "surrogateescape")
    return Digest(hashlib.sha256(encoded).hexdigest()[:_DIGITS], len(encoded))


def read_digests(folder: Path, area: str) -> dict[str, Digest]:
    """Return the digests of an area by the outputs' ids."""
    path = folder / f"{area}.txt"
    if not path.exists():
        return {}
    rows = (line.rsplit(" ", 2) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: Digest(sha256, int(size)) for name, sha256, size in rows}


def write_digests(folder: Path, area: str, digests: Mapping[str, Digest]) -> None:
    """Write the digests of an area, sorted by id, so that two branches merge."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = (f"{name} {digest.sha256} {digest.size}\n" for name, digest in sorted(digests.items()))
    (folder / f"{area}.txt").write_text("".join(lines), encoding="utf-8")


class Texts:
    """The texts that runs have made, by their digests: a cache outside git, which may be deleted."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(path, timeout=60)
        self._base.execute("create table if not exists texts (sha256 text primary key, text blob) without rowid")

    def add(self, texts: Iterable[tuple[Digest, bytes]]) -> None:
        """Keep packed texts (see `pack`)."""
        with self._base:
            self._base.executemany(
                "insert or ignore into texts values (?, ?)", ((digest.sha256, text) for digest, text in texts)
            )

    def get(self, digest: Digest) -> str | None:
        """Return the text, None where no run on this machine has made it."""
        row = self._base.execute("select text from texts where sha256 = ?", (digest.sha256,)).fetchone()
        return zlib.decompress(row[0]).decode("utf-8", "surrogateescape") if row else None


def pack(text: str) -> bytes:
    """Compress a text for the cache."""
    return zlib.compress(text.encode("utf-8", "surrogateescape"), 6)


def cache_path() -> Path:
    """The file of the texts; GPUDOCTOR_GOLDEN_CACHE names another folder for it."""
    named = os.environ.get("GPUDOCTOR_GOLDEN_CACHE", "")
    folder = Path(named) if named else Path(__file__).parents[2] / ".cache" / "golden"
    return folder / "texts.sqlite"
