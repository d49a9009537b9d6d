"""Every error of CUDA by its name, number or words, as `verify` reads them; what the text says besides is surer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.artefact import StatusRow
from doctor.messages.cause import CRASH, CUDA_CALL, Cause, of_cuda
from doctor.messages.clues import Clues
from doctor.messages.decide._words import name_of
from doctor.messages.signature import Means

_USER, _NODES = "not-a-stack-problem", "no-device-nodes"


def of_error(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By the name, or by the number before and since CUDA 10.1: no number means two faults."""
    names = (
        [found["name"]] if found["name"] else [row.name for row in _rows(int(found["number"] or found["thc"]), clues)]
    )
    yield from (one for name in names for one in _means(of_cuda(name)))


def _rows(number: int, clues: Clues) -> list[StatusRow]:
    rows: tuple[StatusRow, ...] = clues.matrix.rows("status", "codes")
    return [row for row in rows if row.library == "cuda" and row.code == number]


def of_words(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Find the error by the words that the runtime prints for it."""
    yield from _means(of_cuda(name_of(" ".join(found["words"].split()))))


def _means(cause: Cause) -> Iterator[Means]:
    """A kernel that dies is the program's; what has no code of its own is a cause only where it keeps CUDA from it."""
    if cause.code == CRASH:
        yield Means(_USER, cause.why, 0.5)
    elif cause.code != CUDA_CALL:
        yield Means(cause.code, cause.why, 0.4)
    elif cause.advice:
        yield Means(_NODES, f"{cause.why}: device nodes may be missing or closed", 0.4)
