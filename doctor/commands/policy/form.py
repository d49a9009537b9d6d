"""What may stand in gpudoctor.toml: its JSON Schema, by which the reader goes; docs/policy.schema.json is a copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from compat.base.paths import text_beside


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the file, as TOML's values are JSON's; dates may also be TOML's own."""
    found: dict[str, Any] = json.loads(text_beside(__file__, "policy.schema.json"))
    return found


TABLES: Mapping[str, Mapping[str, Any]] = {name: table["properties"] for name, table in schema()["properties"].items()}
