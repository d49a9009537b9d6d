"""Values written as TOML 1.0: the standard library reads it only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Union

Value = Union[str, Sequence[str], Mapping[str, str]]


def quoted(text: str) -> str:
    """A basic string, whose escapes are JSON's."""
    return json.dumps(text, ensure_ascii=False)


def inline(table: Mapping[str, Value]) -> str:
    """An inline table."""
    return "{ " + ", ".join(f"{key} = {_value(value)}" for key, value in table.items()) + " }"


def _value(value: Value) -> str:
    if isinstance(value, str):
        return quoted(value)
    return inline(value) if isinstance(value, Mapping) else f"[{', '.join(map(quoted, value))}]"
