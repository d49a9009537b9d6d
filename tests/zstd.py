"""Python's module for zstd, which compresses too: 3.14's own, else its backport."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

zstd: Any = importlib.import_module("compression.zstd" if importlib.util.find_spec("compression") else "backports.zstd")
