"""What may stand in gpudoctor.toml: one table, of which the reader and the JSON Schema are made.

`python -m doctor.commands.policy.form` prints the schema; docs/policy.schema.json is its committed copy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from doctor.model.facts.policy import POLICY_FILE

_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": _TEXT}
_CODE = {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"}
_RANGE = {**_TEXT, "description": "a PEP 440 specifier, >=580.65.06 or ==12.8.*; a bare version is at least that one"}
_FRAMEWORK = {
    "type": "object",
    "properties": {"version": _RANGE, "build": {**_TEXT, "description": "cu128, cpu, rocm6.4"}},
    "additionalProperties": False,
}
_EXCEPTION = {
    "type": "object",
    "properties": {
        "code": _CODE,
        "reason": _TEXT,
        "expires": {"type": "string", "format": "date", "description": "the last day on which it holds"},
    },
    "required": ["code", "reason", "expires"],
    "additionalProperties": False,
}
_ONE_OR_MORE = {"anyOf": [_TEXT, {**_TEXTS, "minItems": 1}]}
TABLES: Mapping[str, Mapping[str, Any]] = {
    "require": {
        "driver": _RANGE,
        "gpu": {**_ONE_OR_MORE, "description": "words of the name of each card, or a pattern with *"},
        "gpu_count": {
            "anyOf": [{"type": "integer", "minimum": 0}, _RANGE],
            "description": "how many; a range in quotes",
        },
        "gpu_memory": {
            "anyOf": [{"type": "integer", "minimum": 1}, _RANGE],
            "description": "GiB of each card, rounded",
        },
        "cuda": {**_RANGE, "description": "release of a CUDA toolkit that is there"},
        "cudnn": {**_RANGE, "description": "release of a copy of cuDNN that is there"},
        "compute_capability": {**_RANGE, "description": "of each card"},
        "frameworks": {
            "type": "object",
            "description": "distributions, each with a range, or with version and build",
            "additionalProperties": {"anyOf": [_RANGE, _FRAMEWORK]},
        },
    },
    "findings": {
        "forbid": {"type": "array", "items": _CODE, "description": "these are errors"},
        "allow": {"type": "array", "items": _EXCEPTION, "description": "these are put up with, until a day"},
    },
    "environments": {"python": {**_TEXTS, "description": "interpreters or environments to look at"}},
    "assume": {
        "driver": {**_TEXT, "description": "version to check a disk or image for"},
        "gpu": {**_ONE_OR_MORE, "description": "cards to check a disk or image for"},
    },
}


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the file, as TOML's values are JSON's; dates may also be TOML's own."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": POLICY_FILE,
        "type": "object",
        "properties": {
            name: {"type": "object", "properties": dict(keys), "additionalProperties": False}
            for name, keys in TABLES.items()
        },
        "additionalProperties": False,
    }


if __name__ == "__main__":
    import sys

    sys.stdout.write(json.dumps(schema(), indent=1) + "\n")
