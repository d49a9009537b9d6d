"""The JSON Schema of the tables, made from the row types; `python -m compat.schema` writes data/schema.json.

A test keeps the committed file equal to what this module makes, so a column exists in one place.
"""

from __future__ import annotations

import json
import os
from typing import Any

from compat.artefact import ARTEFACT_TABLES
from compat.load import DATA, SCHEMA, columns_of, defaults_of
from compat.platform_row import PLATFORM_TABLES
from compat.row import FRAMEWORK_TABLES, TABLES

Json = dict[str, Any]

_NAMED = {**TABLES, **ARTEFACT_TABLES, **PLATFORM_TABLES}
PATH = os.path.join(DATA, "schema.json")
_DATE = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
_TEXT = {"type": "string", "minLength": 1}
# What every row has, whatever its table.
_COMMON: dict[str, Json] = {
    "id": {"type": "string", "pattern": r"^[a-z0-9][a-z0-9.+_-]*$"},
    "source": _TEXT,
    "read_on": _DATE,
    "confidence": {"enum": ["high", "medium", "low"]},
}
_TYPES: dict[str, Json] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "CudaVersion": {"type": "string", "pattern": r"^\d+\.\d+$"},
    "CudnnVersion": {"type": "string", "pattern": r"^\d+(\.\d+){0,3}$"},
    "DriverRelease": {"type": "string", "pattern": r"^\d+(\.\d+){0,2}$"},
    "ComputeCapability": {"type": "string", "pattern": r"^\d+\.\d$"},
    "CodeTarget": {"type": "string", "pattern": r"^(sm|compute)_\d{2,3}[af]?$"},
    "dict[str, str]": {"type": "object", "additionalProperties": {"type": "string"}},
    "dict[str, int]": {"type": "object", "additionalProperties": {"type": "integer"}},
}


def schema() -> Json:
    """The schema of every file under data/: the outer shape, and by product the tables with their rows."""
    row_types = {row_type for tables in (*_NAMED.values(), FRAMEWORK_TABLES) for row_type in tables.values()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "type": "object",
        "required": ["schema", "product", "as_of", "tables"],
        "additionalProperties": False,
        "properties": {
            "schema": {"const": SCHEMA},
            "product": {"type": "string", "pattern": "^[a-z0-9][a-z0-9.-]*$"},
            "as_of": _DATE,
            "tables": {"type": "object"},
        },
        "allOf": [*(_when({"const": name}, tables) for name, tables in _NAMED.items()), _otherwise()],
        "$defs": {row_type.__name__: _row(row_type) for row_type in sorted(row_types, key=lambda one: one.__name__)},
    }


def _when(product: Json, tables: dict[str, type]) -> Json:
    return {"if": {"properties": {"product": product}}, "then": {"properties": {"tables": _tables(tables)}}}


def _otherwise() -> Json:
    return _when({"not": {"enum": list(_NAMED)}}, FRAMEWORK_TABLES)


def _tables(tables: dict[str, type]) -> Json:
    rows = {
        name: {"type": "array", "minItems": 1, "items": {"$ref": f"#/$defs/{row_type.__name__}"}}
        for name, row_type in tables.items()
    }
    return {"type": "object", "required": list(rows), "additionalProperties": False, "properties": rows}


def _row(row_type: type) -> Json:
    columns = {name: _COMMON.get(name) or _column(annotation) for name, annotation in columns_of(row_type).items()}
    required = [name for name in columns if name not in defaults_of(row_type)]
    return {"type": "object", "required": required, "additionalProperties": False, "properties": columns}


def _column(annotation: str) -> Json:
    if annotation.endswith(" | None"):
        return {"anyOf": [_column(annotation.removesuffix(" | None")), {"type": "null"}]}
    if annotation.startswith("tuple["):
        return {"type": "array", "items": _column(annotation.removeprefix("tuple[").removesuffix(", ...]"))}
    return _TYPES[annotation]


def text() -> str:
    """The file's content."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    with open(PATH, "w", encoding="utf-8") as stream:
        stream.write(text())
