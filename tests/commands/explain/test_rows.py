"""The rows of `explain`: closed keys, references that resolve, words that are up to date."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest

from doctor.messages import decide, signatures
from doctor.messages.causes import _REFUTABLE
from doctor.messages.clues import flexible
from doctor.messages.signature import families, refutations
from tests.commands.explain.prefilter import with_words

FOLDER = Path(signatures.__path__[0])
SHARED: dict[str, list[str]] = json.loads((FOLDER / "_shared.json").read_text(encoding="utf-8"))
REQUIRED, OPTIONAL = {"pattern", "words", "source"}, {"asks", "decide", "means"}
OF_A_MEANING = {"code", "says", "confidence"}


def rows(family: str) -> Any:
    return json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        return {name for one in value.values() for name in references(one)}
    if isinstance(value, list):
        return {name for one in value for name in references(one)}
    return {value[1:]} if isinstance(value, str) and value.startswith("@") else set()


@pytest.mark.parametrize("family", families())
def test_rows_have_known_keys_and_current_words(family: str) -> None:
    told = rows(family)
    assert set(told) <= {"about", "general", "signatures"}
    for row in told["signatures"]:
        assert set(row) - OPTIONAL == REQUIRED, row
        assert row.get("means") or row.get("decide"), row
        for means in row.get("means", ()):
            assert set(means) - {"given", "unless", "fix"} == OF_A_MEANING, row
            assert 0 < means["confidence"] <= 0.99, row
    assert (FOLDER / f"{family}.json").read_text(encoding="utf-8") == with_words(family), (
        "run python -m tests.commands.explain.prefilter"
    )


def test_patterns_compile() -> None:
    for family in families().values():
        for one in family.signatures:
            for pattern in (one.pattern, *(each for means in one.means for each in (means.given, means.unless))):
                flexible(pattern)


def test_each_shared_pattern_is_used_and_there() -> None:
    used = {name for family in (*families(), "_refuted") for name in references(rows(family))}
    assert used == set(SHARED)


def test_each_refutation_is_read() -> None:
    for codes, pattern in refutations():
        assert codes <= _REFUTABLE
        flexible(pattern)
    assert frozenset().union(*(codes for codes, _ in refutations())) == _REFUTABLE


def test_each_function_that_decides_is_named_by_a_row() -> None:
    named = {one.decide for family in families().values() for one in family.signatures if one.decide}
    for family in families().values():
        for one in family.signatures:
            assert not one.decide or callable(one.decider)
    there = {
        f"{module.name}.{name}"
        for module in pkgutil.iter_modules(decide.__path__)
        if not module.name.startswith("_")
        for name, item in vars(importlib.import_module(f"{decide.__name__}.{module.name}")).items()
        if inspect.isfunction(item)
        and not name.startswith("_")
        and item.__module__.endswith(f".{module.name}")
        and item.__module__.startswith(decide.__name__)
    }
    assert there == named
