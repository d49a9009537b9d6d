"""Messages as rows: one family of messages a file, and tables (`_*.json`). See CONTRIBUTING.md, "A signature"."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from compat.base.paths import text_beside


@cache
def table(name: str) -> dict[str, Any]:
    """Return a file of this directory, read once."""
    rows: dict[str, Any] = json.loads(text_beside(__file__, f"{name}.json"))
    return rows
