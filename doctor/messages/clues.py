"""What a text tells besides the message: releases, cards, the system. Only what stands there; nothing is guessed."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from compat.cards import NoGpuName, gpu_card_of
from compat.matrix import Matrix, Uncovered
from compat.version import ComputeCapability, CudaVersion, DriverRelease
from doctor.messages.reading import Reading
from doctor.messages.widths import unwrap_lines

_LONGEST_RUN = 160
_RUN = re.compile(r"(\\[sSwWd]|(?<!\\)\])([*+])")
_BLANK = re.compile(r"\\.|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])| (?P<times>[+*?]?)")

# The name of a GPU, in its group 1.
CARD = re.compile(
    r"\b((?:(?:NVIDIA|GeForce|Quadro|Tesla|TITAN|RTX|GTX|GT)[ -]?){1,3}(?:PRO |X |V |Z |M|K|P|T|A|H|B|L)?\d{2,4}"
    r"(?: ?(?:Ti|SUPER|D|M|Ada|Xp|GB|PCIe|SXM\d?|NVL|Blackwell)\b)*|TITAN (?:X|V|Xp|RTX)|DGX Spark|"
    r"\b(?:[KMPVATHLB]\d{1,3}[mst]?|GH200|GB10|GB200|RTX PRO \d{4})\b)",
    re.IGNORECASE,
)
_BUILD = re.compile(
    r"(?:\+|/whl/(?:nightly/)?|torch build: |bundled torch )cu(\d{2,3})\b|CUDA used to build PyTorch *: *(\d+)\.(\d+)"
    r"|pytorch[ \d.,]* cuda ?(\d+)\.(\d+)|cudatoolkit[= ]+(\d+)\.(\d+)|pytorch-cuda=(\d+)\.(\d+)",
    re.IGNORECASE,
)


_DRIVER = re.compile(
    r"\bdriver(?:[ _]ver(?:sion)?| release)?(?: is)?[ :=]{0,3}v?(\d{3}\.\d{2,3}(?:\.\d{2})?)(?![\w.])"
    r"|NVIDIA-SMI (\d{3}\.\d{2,3}(?:\.\d{2})?)",
    re.IGNORECASE,
)


class Clues:
    """The kept text as one, and what is read from it, each when it is asked for."""

    def __init__(self, reading: Reading, matrix: Matrix) -> None:
        self.text = "".join(text for lines in unwrap_lines(reading.lines) for text in lines)
        self.matrix = matrix

    def has(self, pattern: str) -> bool:
        """Whether the text holds it."""
        return bool(flexible(pattern).search(self.text))

    @cached_property
    def capabilities(self) -> tuple[ComputeCapability, ...]:
        """Of the cards that are named, oldest first; () where none is known."""
        found: set[ComputeCapability] = set()
        for named in dict.fromkeys(match[0] for match in CARD.finditer(self.text)):
            try:
                card = gpu_card_of(named, self.matrix)
            except (Uncovered, NoGpuName):
                continue
            if len(card.capabilities) == 1:
                found.update(card.capabilities)
        return tuple(sorted(found))

    @cached_property
    def driver(self) -> DriverRelease | None:
        """The driver release that the text names first."""
        found = _DRIVER.search(self.text)
        return DriverRelease.parse(found[1] or found[2]) if found else None

    @cached_property
    def build_cuda(self) -> CudaVersion | None:
        """The CUDA that the framework was built with, where the text says it."""
        found = _BUILD.search(self.text)
        if not found:
            return None
        told = [group for group in found.groups() if group]
        if len(told) == 1:
            return CudaVersion(int(told[0][:-1]), int(told[0][-1]))
        return CudaVersion(int(told[0]), int(told[1]))


@lru_cache(maxsize=1024)
def flexible(pattern: str) -> re.Pattern[str]:
    """The pattern, in which a blank is any run of blanks and line ends; upper and lower case are the same.

    No run is longer than a message needs, so that time stays linear in the text.
    """
    spaced = _BLANK.sub(_spaced, pattern)
    bounded = _RUN.sub(lambda found: f"{found[1]}{{{'1' if found[2] == '+' else '0'},{_LONGEST_RUN}}}", spaced)
    return re.compile(bounded, re.IGNORECASE)


def _spaced(found: re.Match[str]) -> str:
    if found["set"]:
        return found["set"].replace(" ", r"\s")
    if found["times"] is None:  # an escaped character
        return found[0]
    return r"\s*" if found["times"] in ("*", "?") else r"\s+"
