"""No pattern of the product takes more than linear time, wherever it is kept: as a constant, in a table, in a call."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.commands.explain.test_patterns import (
    BLANKS_S,
    FOLDERS,
    ROOT,
    SECONDS,
    Used,
    of_module,
    slow_blanks,
    slow_text,
)

ROOMS = ("compat", "doctor", "installers")


def every() -> dict[str, Used]:
    found: dict[str, Used] = {}
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            place = str(file.relative_to(ROOT))
            if file.name == "__main__.py" or place.startswith(FOLDERS):
                continue  # those are tried by the slow test
            module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
            patterns = [Used(one, "search", place) for one in _patterns(list(vars(module).values()), 4)]
            found |= {one.pattern.pattern: one for one in (*patterns, *of_module(file))}
    return found


def _patterns(value: Any, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth and isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from _patterns(one, depth - 1)
    elif depth and isinstance(value, dict):
        yield from _patterns([*value.keys(), *value.values()], depth - 1)


@pytest.mark.slow
def test_every_pattern_of_the_product_takes_linear_time() -> None:
    patterns = every()
    assert len(patterns) > 200
    slow = {}
    for one in patterns.values():
        taken, text = slow_text(one)
        if taken <= SECONDS:
            taken, text = slow_blanks(one)
            taken = taken if taken > BLANKS_S else 0.0
        if taken:
            slow[one.place, one.pattern.pattern[:150]] = (round(taken, 2), text[:40])
    assert slow == {}
