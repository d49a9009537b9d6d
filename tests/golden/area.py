"""What an area of outputs is, and the areas that there are."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.golden import areas

Outputs = Mapping[str, str]  # text by part: a format, or another word without "/"


class Area(NamedTuple):
    """A module of tests/golden/areas holds one as `AREA`."""

    jobs: Callable[[], Sequence[str]]  # names, of which each stands alone in any process and order
    outputs: Callable[[str, Path], Outputs]  # of a job, which may write into an empty folder
    share: int = 20  # one job of so many is in the fast suite; 0: none


@cache
def area_of(name: str) -> Area:
    """The area of this name."""
    area: Area = importlib.import_module(f"{areas.__name__}.{name}").AREA
    return area


def names() -> list[str]:
    """All areas, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(areas.__path__))
