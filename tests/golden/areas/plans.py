"""What is typed and scripted for every need on every target: the methods, without a command line that chooses them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.golden.area import Area, Outputs
from tests.golden.product import TARGETS, plans


def jobs() -> Sequence[str]:
    """The names of the targets."""
    return list(TARGETS)


def outputs(target: str, folder: Path) -> Outputs:
    """By the number of the need in tests/installers/needs.py."""
    return {f"{number:03}": text for number, text in enumerate(plans(target))}


AREA = Area(jobs, outputs, 14)
