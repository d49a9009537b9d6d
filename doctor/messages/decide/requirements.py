"""A program's own check: what it needs, and what it found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.signature import Means

_CODES = {
    "driver": "driver-too-old-for-runtime",
    "cuda": "framework-wants-other-cuda",
    "tensorrt": "needed-library-missing",
    "nccl": "pip-nvidia-wheels-conflict",
    "glibc": "glibc-too-old",
    "compute capability": "gpu-too-old-dropped",
}


def compared(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """Compare the two releases; where what was found is enough, it is another fault."""
    thing, need, has = (next(filter(None, (found[name + end] for end in ("", "2", "3")))) for name in _GROUPS)
    needed, there = _numbers(need), _numbers(has)
    if not needed or not there or there >= needed[: len(there)]:
        return
    says = f"the program needs {thing} {need.rstrip('.')}, and found {has.rstrip('.')}"
    name = thing.lower().removeprefix("nvidia ")
    if name == "cudnn":
        other = needed[0] != there[0]
        yield Means("cudnn-wrong-major" if other else "cudnn-version-mismatch-loaded-vs-compiled", says, 0.7)
    else:
        yield Means(_CODES[name], says, 0.7)


_GROUPS = ("thing", "need", "found")


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.strip(".").split(".") if one)
