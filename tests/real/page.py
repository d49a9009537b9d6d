"""Rows for the table of docs/which.md: libraries of one directory and one outcome together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.real.judge import Compared

_EACH_WHEEL = re.compile(r"nvidia/(?!cu\d+/)[^/]+/lib")


def rows(one: Compared, circumstances: str, site: str) -> Iterator[str]:
    """The rows of one framework; paths below the site directory are shortened as the page says."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for row in one.rows:
        predicted, observed = (_folder(row[key], site) for key in ("predicted", "observed"))
        grouped.setdefault((predicted, observed, row["equal"]), []).append(row["name"].removeprefix("lib"))
    first = f"{one.label} | {circumstances}"
    for (predicted, observed, equal), names in sorted(grouped.items(), key=lambda item: -len(item[1])):
        yield f"| {first} | {' '.join(names)} | {predicted} | {observed} | {equal} |"
        first = " | "


def _folder(path: str, site: str) -> str:
    """Where a library lies; "nothing" and the like stay."""
    folder = path.rpartition("/")[0] or path
    folder = _EACH_WHEEL.sub(r"nvidia/\\*/lib", folder.replace(site, "site-packages"))
    return "the driver's directory" if folder == "/usr/lib/x86_64-linux-gnu" else folder
