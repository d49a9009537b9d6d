"""Messages as rows: one family of messages a file, and tables (`_*.json`). See CONTRIBUTING.md, "A signature"."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """Return a file of this directory, read once."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.json"), encoding="utf-8") as file:
        rows: dict[str, Any] = json.load(file)
    return rows
