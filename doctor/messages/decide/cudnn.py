"""cuDNN: of another release, missing, in parts, or blamed for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.messages.clues import Clues
from doctor.messages.signature import Means

_OTHER, _SHADOW, _MAJOR = (
    "cudnn-version-mismatch-loaded-vs-compiled",
    "ld-library-path-shadowing",
    "cudnn-wrong-major",
)


def _major(told: str) -> int:
    """8.5.0 is 8; 7301 is 7, 90100 is 9: cudnnGetVersion as it is."""
    bare = re.sub(r"[ ()]", "", told).replace(",", ".")
    if "." in bare:
        return int(bare.partition(".")[0])
    return int(bare) // (10000 if int(bare) >= 90000 else 1000)


def mismatch(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """TensorFlow and XLA name both releases."""
    loaded, built = found["loaded"].strip("."), found["built"].strip(".")
    says = f"cuDNN {loaded} is loaded, but the program is built for {built}"
    code = _OTHER if _major(loaded) == _major(built) else _MAJOR
    yield Means(code, says, 0.95)
    if clues.has(r"LD_LIBRARY_PATH"):
        yield Means(_SHADOW, f"{says}: LD_LIBRARY_PATH may point to it", 0.6)


def other_major(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """A file that is asked for by its major, beside a release of another that the text names."""
    asked = re.search(r"(?:so\.|cudnn64_)(\d+)", found[0])
    named = re.search(r"cudnn(?: version)? ?[:=v]? ?(\d+)\.\d", clues.text, re.IGNORECASE)
    if asked and named and asked[1] != named[1]:
        yield Means(_MAJOR, f"the program needs cuDNN {asked[1]}, but {named[1]} is installed", 0.94)


def outdated(_found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """JAX gives the releases as cudnnGetVersion encodes them."""
    told = re.search(r"built against:? (\d+)[\s\S]{0,120}Installed version:? (\d+)", clues.text)
    if told:
        code = _OTHER if _major(told[1]) == _major(told[2]) else _MAJOR
        yield Means(code, f"cuDNN {told[2]} is loaded, but JAX is built for {told[1]}", 0.95)
    else:
        yield Means(_OTHER, "JAX loads an older cuDNN than it was built for", 0.9)
