"""Messages of any program about its GPU; less certain than a message with a known source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.decide._words import BLACKWELL, TOOLKIT
from doctor.messages.signature import Means

_OTHER_CUDA, _TOO_OLD, _TOO_NEW = "framework-wants-other-cuda", "gpu-too-old-dropped", "gpu-too-new-for-cuda"
_NEWEST_MAJOR = 10


def library(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """A library of CUDA that somebody could not open, whatever the words."""
    told = (found[group] for group in ("lib", "name", "what", "rust", "ort", "init"))
    name = next(filter(None, told), "the CUDA runtime, libcudart")
    low = name.lower()
    if "dnn" in low:
        yield Means("cudnn-missing", f"{name} is not found", 0.6)
    elif "nvrtc" in low:
        yield Means("nvrtc-missing", f"{name} is not found", 0.65)
    elif re.search(r"nvinfer|nvonnx|tensorrt", low):
        if clues.has(r"Cannot dlopen some TensorRT libraries|TF-TRT"):
            return  # TensorFlow's notice
        says = f"TensorRT's {name} is not on the loader's path, or has another version"
        yield Means("windows-dll-path" if ".dll" in low else "needed-library-missing", says, 0.7)
    else:
        yield Means("cudart-soname-missing", f"{name}, which the program opens by name, was not found", 0.6)
        if clues.has(TOOLKIT):
            yield Means(_OTHER_CUDA, f"the program needs {name}, but another CUDA is installed", 0.55)
    if ".dll" in low or "64_" in low:
        yield Means("windows-dll-path", f"Windows did not find {name}, or a DLL that it needs", 0.5)


def capability(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """Too old or too new: by the words, else by the card that is named."""
    told = re.search(
        r"sm[_ ]?(\d+)\d|(?:capability|arch\w*)[^\d\n]{1,20}(\d+)\.\d|GPU (?:has capability \(|is )(\d+)(?:,|\d\b)",
        found[0],
    )
    majors = [int(one) for one in told.groups() if one] if told else [card.major for card in clues.capabilities[-1:]]
    newest = bool(majors) and majors[0] >= _NEWEST_MAJOR
    newest = newest or (not told and clues.has(BLACKWELL))
    if newest or re.search(r"too new|yet|newer than", found[0], re.IGNORECASE):
        yield Means(_TOO_NEW, "the program has no code for this card, which is newer than its CUDA", 0.66)
        yield Means("gpu-arch-not-in-build", "the program's build leaves this card out", 0.55)
    else:
        yield Means(_TOO_OLD, "the program has no code for this card, or needs a newer card", 0.62)
        yield Means("gpu-arch-not-in-build", "the program's build leaves this card out", 0.5)
