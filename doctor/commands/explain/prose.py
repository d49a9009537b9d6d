"""Facts that ordinary lines name, where a text holds no dump: the framework, the GPU, the driver, the system.

People name more than one release, so these facts never make a cause; they give the cause of a message its commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from doctor.commands.explain.dump import Field, Said, Told
from doctor.messages.causes import Cause
from doctor.messages.clues import CARD
from doctor.messages.reading import Line, Reading

# Causes that the rules judge by a framework's build, a GPU and a driver alone.
_JUDGED = frozenset(
    (
        *("driver-too-old-for-runtime", "gpu-arch-not-in-build", "gpu-too-new-for-cuda", "gpu-too-old-dropped"),
        *("cpu-only-wheel", "driver-does-not-support-gpu"),
    )
)
_TITLE = "the words of the text"
_FEWEST = 2  # lines: a message that is pasted alone names nothing besides
_PACKAGE = (
    r"(?i)(?<![\w/.-])(?P<name>torch|pytorch|tensorflow|jaxlib|jax|cupy-cuda1[123]x|onnxruntime-gpu|paddlepaddle-gpu)"
    r"(?:==|(?: version)?[:=]? ?v?)(?P<version>\d{1,2}\.\d{1,3}(?:\.\d{1,2})?(?:\+(?:cu\d{2,3}|cpu))?)(?![\w.+]|\.\d)"
)
_DRIVER = r"(?i)(?:driver(?: version)?|NVIDIA-SMI)[ :=]{1,3}v?(\d{3}\.\d{2,3}(?:\.\d{2})?)(?![\w.])"
_DRIVER_CUDA = r"found version (1\d)0?(\d)0\)|CUDA Version: (\d{2}\.\d)(?= *\|)"
_PYTHON = r"(?i)\bpython(?: version)?[ :=]{0,3}v?(3\.\d{1,2})(?:\.\d{1,2})?\b|[/\\]python(3\.\d{1,2})[/\\]"
_SYSTEM = (
    r"\b(Ubuntu|Debian(?: GNU/Linux)?|Fedora|Rocky Linux|AlmaLinux|Red Hat Enterprise Linux) ?:?"
    r"(\d{1,2}(?:\.\d{1,2})?)\b"
    r"|\b[Ww]indows ?(10|11)\b"
)
_OF_LINUX = r"(?:^|[\s\"'(])/(?:home|usr|opt|root|workspace)/"
_OF_WINDOWS = r"(?:^|[\s\"'(])[A-Za-z]:\\"


def can_help(causes: tuple[Cause, ...]) -> bool:
    """Whether the rules could add commands to the first cause."""
    return bool(causes) and causes[0].code in _JUDGED


def beside(told: Told, reading: Reading) -> Told:
    """Return what the dumps say, and of what they leave open that which the lines name.

    It has a title if the lines add something and a framework with its release is known.
    """
    if len(reading.lines) < _FEWEST:
        return told._replace(titles=())
    known = {_kind(one) for one in told.said}
    more = tuple(one for one in _unambiguous(_said(reading.lines)) if _kind(one) not in known)
    said = (*told.said, *more)
    is_enough = bool(more) and any(one.field is Field.PACKAGE for one in said)
    return Told((_TITLE,) if is_enough else (), said)


def _kind(said: Said) -> object:
    """Return what there can be one value of: a field, or the release of one package."""
    return (said.field, said.value.partition("==")[0]) if said.field is Field.PACKAGE else said.field


def _said(lines: Iterable[Line]) -> Iterator[Said]:
    for line in lines:
        text = line.text
        for found in re.finditer(_PACKAGE, text):
            name = "torch" if found["name"].lower() == "pytorch" else found["name"].lower()
            yield Said(Field.PACKAGE, f"{name}=={found['version']}", line.number)
        for found in re.finditer(_DRIVER, text):
            yield Said(Field.DRIVER, found[1], line.number)
        for found in re.finditer(_DRIVER_CUDA, text):
            yield Said(Field.DRIVER_CUDA, found[3] or f"{found[1]}.{found[2]}", line.number)
        for found in re.finditer(_PYTHON, text):
            yield Said(Field.PYTHON, found[1] or found[2], line.number)
        for found in re.finditer(_SYSTEM, text):
            name = f"Microsoft Windows {found[3]}" if found[3] else f"{_NAMES.get(found[1], found[1])} {found[2]}"
            yield Said(Field.SYSTEM, name, line.number)
        for found in CARD.finditer(text):
            yield Said(Field.GPU, f"0 {found[1].strip()}", line.number)
        if re.search(_OF_LINUX, text):
            yield Said(Field.FAMILY, "linux", line.number)
        if re.search(_OF_WINDOWS, text):
            yield Said(Field.FAMILY, "windows", line.number)


_NAMES = {"Debian": "Debian GNU/Linux"}


def _unambiguous(said: Iterable[Said]) -> Iterator[Said]:
    """Leave out a field, or a package, of which the lines name two values."""
    first: dict[object, Said] = {}
    torn: set[object] = set()
    for one in said:
        if first.setdefault(_kind(one), one).value != one.value:
            torn.add(_kind(one))
    yield from (one for key, one in first.items() if key not in torn)
