"""What the articles measured that this benchmark goes back to: figures to compare with, no promise for a machine."""

from __future__ import annotations

import json
import os
from functools import cache

from compat.base.errors import DataError
from compat.load import RowReader
from doctor.commands.bench.article_row import ArticleRow

_FILE = os.path.join(os.path.dirname(__file__), "articles.json")


@cache
def articles(path: str = _FILE) -> tuple[ArticleRow, ...]:
    """All rows, in the order of the file; raises DataError where the file breaks its own contract."""
    reader = RowReader(ArticleRow, os.path.basename(path))
    try:
        with open(path, encoding="utf-8") as stream:
            rows = json.load(stream)["rows"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: {error}") from error
    return tuple(reader.read(row) for row in rows)


def article_on(network: str) -> ArticleRow | None:
    """What was published about a network, None where nothing was."""
    return next((row for row in articles() if network in row.networks), None)


def seconds_of(row: ArticleRow, path: str, pool: bool | None) -> int | None:
    """Seconds per epoch on one path; None where the article has none."""
    times = {"cpu": row.cpu_s, "gpu": row.gpu_pool_s if pool else row.gpu_s, "gpu+cudnn": row.cudnn_s}
    return times.get(path)


def ratio_of(row: ArticleRow, path: str, pool: bool | None) -> float | None:
    """How many times as fast as its CPU; None where the article has no figure for the path.

    An article of ratios alone used Caffe, which keeps its memory for the whole run: that is a pool's way.
    """
    seconds = seconds_of(row, path, pool)
    if row.cpu_s is not None:
        return None if seconds is None else row.cpu_s / seconds
    ratios = {"cpu": 1, "gpu": row.gpu_ratio if pool else None, "gpu+cudnn": row.cudnn_ratio}
    return ratios.get(path)
