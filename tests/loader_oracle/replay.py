"""A library that asks as another one would: the same RPATH or RUNPATH, and a dlopen of its own.

For what a framework opens only with a GPU: the loader looks at who calls dlopen, so the call comes from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from doctor.loader.library import Library
from doctor.loader.process import LoadRequest, Process
from tests.lab.stub import compiled

_SOURCE = Path(__file__).with_name("replay.c")
_PLACE = "P" * 100_000  # where the search path is written; TensorFlow's has 20,000 characters, and more with $ORIGIN

# What a child runs: one line for each call, the library and the name.
PROGRAM = """
import ctypes, os
for line in os.environ.get("LOADER_ORACLE_REPLAY", "").splitlines():
    library, _, name = line.partition(" ")
    call = ctypes.CDLL(library).replay
    call.restype = ctypes.c_char_p
    print("replay", name, call(name.encode()).decode())
"""


def templates() -> tuple[Path, Path]:
    """Libraries with room for a DT_RUNPATH, and for a DT_RPATH; compiled once."""
    return (
        compiled(_SOURCE, "-ldl", f"-Wl,--enable-new-dtags,-rpath,{_PLACE}"),
        compiled(_SOURCE, "-ldl", f"-Wl,--disable-new-dtags,-rpath,{_PLACE}"),
    )


def asking_library(asker: Library, folder: Path) -> Path:
    """One with the asker's search path, its $ORIGIN replaced by where the asker lies; no path is an empty DT_RPATH."""
    runpath, rpath = templates()
    chosen, text = (runpath, asker.runpath) if asker.runpath is not None else (rpath, asker.rpath or "")
    path = text.replace("${ORIGIN}", asker.origin).replace("$ORIGIN", asker.origin).encode()
    digest = hashlib.sha256(chosen.name.encode() + path).hexdigest()[:12]
    library = folder / f"replay-{digest}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        content = chosen.read_bytes()
        assert content.count(_PLACE.encode()) == 1
        assert len(path) < len(_PLACE)
        library.write_bytes(content.replace(_PLACE.encode(), path.ljust(len(_PLACE), b"\0")))
    return library


def replays(process: Process, folder: Path) -> str:
    """The calls for everything that libraries asked for by name when a GPU was used: for LOADER_ORACLE_REPLAY."""
    lines = [
        f"{asking_library(question.by.library, folder)} {question.name}"
        for question in _by_name(process.asked)
        if question.by
    ]
    return "\n".join(lines)


def _by_name(asked: Sequence[LoadRequest]) -> list[LoadRequest]:
    return [
        one for one in asked if one.by and "/" not in one.name and one.name not in one.by.library.needed and one.phase
    ]
