"""The GPU that a person names: a product, sm_89, or 8.9."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.reason import row_name
from compat.row import GpuRow
from compat.version import ComputeCapability

# What says nothing of the chip: the maker, the board's form, its memory, and a part of a card (MIG, "1g.5gb").
_NOISE = re.compile(
    r"\bmig\b|\b\d+g\.\d+gb(\+[\w.]+)?|\b\d+\s?gb\b|\b(nvidia|gpu|graphics|laptop|mobile|notebook|super developer kit|"
    r"developer kit|dev kit|module|edition|with max-q design|max-q)\b"
)
_COUNT = re.compile(
    r"^\d{1,2}\s*[x×]\s*(?=[^\W\d]|\d{4})|(?<!\s)\s{1,8}\(?[x×]\s?\d{1,2}\)?$"
)  # "8xH100", "RTX 3090 (x2)"
_OTHER_MAKERS = re.compile(
    r"(?i)\b(?:amd|radeon|instinct|firepro|vega|intel|iris|arc|apple|adreno|mali|rx ?\d{3,4}|mi\d{2,3}[ax]?|"
    r"m[1-9](?: (?:pro|max|ultra))?)\b"
)
_NONE = frozenset({"cpu", "none", "no", "off", "false", "cuda", "gpu", "nvidia"})
_FAMILY = frozenset({"geforce", "quadro", "tesla", "rtx", "gtx", "gt", "jetson"})


class NoGpuName(GpudoctorError):
    """A text is neither a product's name nor a compute capability: "-1", "0", ""."""

    hint = 'Give a product, "RTX 5090", or its compute capability, sm_120 or 12.0'

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a known GPU")


class OtherMakersGpu(NoGpuName):
    """A card that is not NVIDIA's: a Radeon, an Arc, Apple's own."""

    hint = "Without an NVIDIA GPU, omit --gpu"

    def __init__(self, text: str) -> None:
        GpudoctorError.__init__(self, f"{text!r} is not an NVIDIA GPU; CUDA needs one")


class GpuCard(NamedTuple):
    """A GPU with one or, where boards of that name carry different chips, several possible compute capabilities."""

    name: str
    capabilities: tuple[ComputeCapability, ...]
    row: str  # "gpu.products[geforce-rtx-4090]", "" for a bare compute capability
    source: str
    note: str
    id: str = ""  # of its row
    family: str = ""  # "geforce", "workstation", "datacenter", "jetson"; "" where that is not known

    def label(self, chip: ComputeCapability) -> str:
        """How an answer names it: "NVIDIA GeForce GT 640 (sm_30)"."""
        return f"{self.name} ({chip.sm})" if self.row else chip.sm


def gpu_cards_of(texts: Iterable[str], matrix: Matrix) -> tuple[GpuCard, ...]:
    """The same of each, also where one names several: "A100, V100", "8xH100"; raises what `gpu_card_of` raises."""
    return tuple(card for text in texts for card in _each(text, matrix))


def _each(text: str, matrix: Matrix) -> tuple[GpuCard, ...]:
    """No product has a comma in its name, so that each part is one: "8.9, 9.0" as well."""
    parts = [part.strip() for part in text.split(",") if part.strip()] or [text]
    return tuple(_of_some(part, matrix) for part in parts)


def _of_some(text: str, matrix: Matrix) -> GpuCard:
    """A name with the number of cards or without; raises Uncovered, NoGpuName."""
    try:
        return gpu_card_of(text, matrix)
    except (Uncovered, NoGpuName):
        alone = _COUNT.sub("", text)
        if alone == text:
            raise
        return gpu_card_of(alone, matrix)


def gpu_card_of(text: str, matrix: Matrix) -> GpuCard:
    """Read "RTX 5090", "GTX 1080 Ti", "sm_89", "compute capability 8.9".

    Raises Uncovered and NoGpuName, as OtherMakersGpu for what no card of NVIDIA's is called.
    """
    bare = re.fullmatch(r"(?i)\s*(?:sm[_ ]?|compute[_ ]?|cc ?|compute capability )?(\d{1,2})[._]?(\d)[af]?\s*", text)
    if bare:
        capability = ComputeCapability(int(bare[1]), int(bare[2]))
        return GpuCard(name=capability.sm, capabilities=(capability,), row="", source="", note="")
    if not re.search(r"[^\W\d_]|\d{3}", text) or text.lstrip().startswith("-"):  # "5000" may be several
        raise NoGpuName(text)
    if text.strip().casefold() in _NONE:
        raise NoGpuName(text)
    try:
        return _card(matrix.gpu(text))
    except Uncovered as error:
        found = _loosely(text, matrix)
        if not found and _OTHER_MAKERS.search(text):
            raise OtherMakersGpu(text) from None
        if not found:
            raise error from None
    first = _card(found[0])
    if len(found) == 1:
        return first
    chips = tuple(sorted({capability for row in found for capability in row.capabilities}))
    family = first.family if len({row.family for row in found}) == 1 else ""
    note = f"may be {', '.join(row.name for row in found)}"
    return first._replace(name=text.strip(), capabilities=chips, note=note, family=family)


def _card(row: GpuRow) -> GpuCard:
    return GpuCard(
        name=row.name,
        capabilities=row.capabilities,
        row=row_name("gpu", "products", row),
        source=row.source,
        note=row.note,
        id=row.id,
        family=row.family,
    )


def _loosely(text: str, matrix: Matrix) -> list[GpuRow]:
    """The products that a name may stand for.

    Either it is the product's but for its family, blanks and form ("GTX1080Ti", "1080 ti", "RTX 4090 Laptop GPU"), or
    the product has all of its words ("RTX PRO 6000" is of three boards). "5000" may be several.
    """
    rows: tuple[GpuRow, ...] = matrix.rows("gpu", "products")
    wanted = _words(text)
    if not any(any(letter.isdigit() for letter in word) for word in wanted) and not _is_named(wanted, rows):
        return []
    plain = [word for word in wanted if word not in _FAMILY]
    same = [row for row in rows if any(_same(wanted, plain, name) for name in (row.name, *row.aliases))]
    if len({row.capabilities for row in same}) == 1:  # the board and its laptop variant: one chip
        return [min(same, key=lambda row: len(row.name))]
    return same or [row for row in rows if any(set(wanted) <= {*_words(name)} for name in (row.name, *row.aliases))]


def _same(wanted: tuple[str, ...], plain: list[str], name: str) -> bool:
    """Whether two names differ only in a family that one of them leaves out: an RTX 6000 is no GTX 6000."""
    words = _words(name)
    families, others = _FAMILY.intersection(wanted), _FAMILY.intersection(words)
    return (
        bool(plain)
        and plain == [word for word in words if word not in _FAMILY]
        and (families <= others or others <= families)
    )


def _is_named(wanted: tuple[str, ...], rows: tuple[GpuRow, ...]) -> bool:
    """Whether words without a number name a product all the same: "Orin Nano", "Thor"."""
    own = [word for word in wanted if word not in _FAMILY]
    return bool(own) and any(row.family == "jetson" and set(own) <= {*_words(row.name)} for row in rows)


@lru_cache(maxsize=2048)
def _words(name: str) -> tuple[str, ...]:
    """The words that tell a chip, letters apart from numbers: "RTX4090 Laptop GPU" is rtx, 4090."""
    text = _NOISE.sub(" ", name.casefold().replace("_", " "))
    return tuple(re.findall(r"[a-z]+|\d+", text))
