"""Errors of NVIDIA's libraries, by the names and numbers of their headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.artefact import StatusRow
from compat.matrix import Matrix
from doctor.messages.clues import Clues
from doctor.messages.signature import Means
from doctor.messages.signatures import table

_NOTES = re.compile(
    r"\w+_SUCCESS|ncclInProgress|(?:CUDA|NVML)_ERROR_NOT_READY|cudaErrorNotReady|NVML_ERROR_ALREADY_INITIALIZED"
    r"|cudaErrorCudartUnloading|CUDA_ERROR_DEINITIALIZED"
)  # a call that came too early or too late, which is no fault


def of_status(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By the name, or by the number: what the library's own header says of it."""
    rows = _known(found, clues.matrix)
    if not rows and found["name"]:
        yield from _means(found["name"], found["name"])
    for row in rows[:1]:
        yield from _means(row.name, f"{row.name} ({row.code})")


def of_said(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """By the words that the runtime prints, wherever they stand in the line; nothing without such words."""
    line = " ".join(found["said"].lower().split())
    here = [text for text in table("_statuses")["said"] if text.lower() in line]
    if here:
        text = max(here, key=len)
        yield from _means(table("_statuses")["said"][text], f"CUDA says: {text}")


def _means(name: str, shown: str) -> Iterator[Means]:
    if not _NOTES.fullmatch(name):
        kinds: list[tuple[str, str, str, float]] = table("_statuses")["kinds"]
        code, why, sure = next(kind[1:] for kind in kinds if re.search(f"(?:{kind[0]})$", name))
        yield Means(code, f"{shown}: {why}", sure)


def _known(found: re.Match[str], matrix: Matrix) -> list[StatusRow]:
    """Return the rows of the status that a message names, the newest numbering first."""
    rows: tuple[StatusRow, ...] = matrix.rows("status", "codes")
    if found["name"]:
        mine = [row for row in rows if row.name == found["name"]]
    else:
        library = "tensorrt" if found["trt"] else found["library"].lower()
        number = int(found["trt"] or found["number"])
        mine = [row for row in rows if (row.library, row.code) == (library, number)]
    return sorted(mine, key=lambda row: row.versions.startswith("<"))
