"""Every JSON Schema. Other tests hold these files equal to what the code makes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.golden.area import Area, Outputs
from tests.golden.product import SCHEMAS


def jobs() -> Sequence[str]:
    """All of them are one job."""
    return ["all"]


def outputs(_: str, folder: Path) -> Outputs:
    """The files as they are."""
    return {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS}


AREA = Area(jobs, outputs, 1)
