"""nvcc, its compiler, its headers and ptxas."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.signature import Means


def other_nvcc(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Both releases; torch 2.15 prints its pattern with the values behind it."""
    toolkit, built = found["other"] or found["toolkit"], found["own"] or found["built"]
    says = f"nvcc has CUDA {toolkit}, torch has {built}: the extension would not fit"
    yield Means("wrong-nvcc-vs-torch-cuda", says, 0.96)
