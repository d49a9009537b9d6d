"""Windows: a DLL, or one that it needs, was not found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.signature import Means

_PATH = "windows-dll-path"
# "The specified module could not be found." as Windows says it in other languages.


def cuda_dll(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """cudart64_110.dll is of CUDA 11; where the text names a toolkit of that major, it is there and not found."""
    name = found["dll"] or found["tf"] or found["find"]
    number = re.search(r"64_(\d+)", name)
    major = number[1] if number and int(number[1]) < 30 else (number[1][:-1] if number else "")
    named = set(
        re.findall(
            r"CUDA[/\\ _]{0,9}(?:cuDNN|toolkit|version|PATH_)?[ :=]{0,9}v?(\d{1,2})[._]\d", clues.text, re.IGNORECASE
        )
    )
    if major in named:
        yield Means(_PATH, f"an installed CUDA has {name}, but this program does not find it", 0.93)
    elif named:
        yield Means("framework-wants-other-cuda", f"{name} belongs to another CUDA than the installed one", 0.9)
    yield Means("cudart-soname-missing", f"{name} is not found", 0.85)
