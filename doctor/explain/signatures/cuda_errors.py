"""Every error of CUDA by its name or number, as `verify` reads them; what the text says besides is surer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.explain.clues import Clues
from doctor.explain.signature import Family, Means, Signature
from doctor.verify.cause import CRASH, CUDA_CALL, of_cuda

_USER = "not-a-stack-problem"


def _of_error(found: re.Match[str], _clues: Clues) -> Iterator[Means]:
    """A kernel that dies is the program's; what has no code of its own is no cause."""
    cause = of_cuda(found["name"] or "", int(found["number"] or 0))
    if cause.code == CRASH:
        yield Means(_USER, cause.why, 0.5)
    elif cause.code != CUDA_CALL:
        yield Means(cause.code, cause.why, 0.4)


FAMILY = Family(
    Signature(
        r"(?-i:\b(?P<name>cudaError[A-Z]\w+|CUDA_ERROR_[A-Z_]+)\b)|(?:CUDA|cuda\w*|cuInit)(?:\(\))? ?(?:error"
        r"|failure|failed|returned)[ :=()a-z]{0,12} ?(?P<number>\d{1,3})\b",
        decide=_of_error,
        source="NVIDIA CUDA Runtime API, cudaError_t; CUDA Driver API, CUresult",
    ),
)
