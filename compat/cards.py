"""The GPU that a person names: a product, sm_89, or 8.9."""

from __future__ import annotations

import re

from compat.matrix import Matrix, Uncovered
from compat.reason import row_name
from compat.record import NamedTuple
from compat.row import GpuRow
from compat.version import ComputeCapability


class Card(NamedTuple):
    """A GPU with one or, where boards of that name carry different chips, several possible compute capabilities."""

    name: str
    capabilities: tuple[ComputeCapability, ...]
    row: str  # "gpu.products[geforce-rtx-4090]", "" for a bare compute capability
    source: str
    note: str

    def label(self, chip: ComputeCapability) -> str:
        """How an answer names it: "NVIDIA GeForce GT 640 (sm_30)"."""
        return f"{self.name} ({chip.sm})" if self.row else chip.sm


def card_of(text: str, matrix: Matrix) -> Card:
    """Read "RTX 5090", "GTX 1080 Ti", "sm_89", "compute capability 8.9"; raises Uncovered."""
    bare = re.fullmatch(r"(?i)\s*(?:sm[_ ]?|compute[_ ]?|cc ?|compute capability )?(\d{1,2})[._]?(\d)[af]?\s*", text)
    if bare:
        capability = ComputeCapability(int(bare[1]), int(bare[2]))
        return Card(capability.sm, (capability,), "", "", "")
    try:
        return _card(matrix.gpu(text))
    except Uncovered as error:
        return _loosely(text, matrix, error)


def _card(row: GpuRow) -> Card:
    return Card(row.name, row.capabilities, row_name("gpu", "products", row), row.source, row.note)


def _loosely(text: str, matrix: Matrix, error: Uncovered) -> Card:
    """By the name without its family and blanks: "GTX1080Ti" and "1080 ti" are one card, "5000" may be several."""
    rows: tuple[GpuRow, ...] = matrix.rows("gpu", "products")
    wanted = _bare(text)
    found = [row for row in rows if wanted and wanted in map(_bare, (row.name, *row.aliases))]
    if not found:
        raise error from None
    first = _card(found[0])
    if len(found) == 1:
        return first
    chips = tuple(sorted({capability for row in found for capability in row.capabilities}))
    return first._replace(name=text, capabilities=chips, note=f"may be {', '.join(row.name for row in found)}")


def _bare(name: str) -> str:
    return re.sub(r"nvidia|geforce|quadro|tesla|[rg]tx|\bgt\b|[\s_-]", "", name.casefold())
