"""One area of outputs a module."""

from __future__ import annotations

import hashlib


def number_of(text: str) -> int:
    """Return a number that only the text decides: what is drawn by it stays when a neighbour comes or goes."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
