"""A table as a file: its text, the rows that are put into it, and how it is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compat.base.private_dirs import own_directory
from compat.load import as_written, tables_of
from compat.overlay import KEYS, OverlayDamaged, empty, load, path_of
from doctor.model.encode import encode
from doctor.output.write import NotWritten, replace

Json = dict[str, Any]


def text_of(content: Json) -> str:
    """The file's text, one row a line, as the shipped tables have it."""
    outer = [f' "{name}": {json.dumps(content[name])},' for name in ("schema", "product", "as_of")]
    tables = [_table(name, items) for name, items in content["tables"].items()]
    return "\n".join(["{", *outer, ' "tables": {', ",\n".join(tables), " }", "}", ""])


def _table(name: str, items: list[Json]) -> str:
    rows = ",\n".join("   " + json.dumps(item, ensure_ascii=False) for item in items)
    return f'  "{name}": [\n{rows}\n  ]' if items else f'  "{name}": []'


def with_rows(content: Json, rows: Iterable[Any], today: str) -> Json:
    """The content with rows added, each in place of those of the same build (on one of its platforms); as of today."""
    names = {row_type.__name__: name for name, row_type in tables_of(content["product"]).items()}
    tables = {name: list(items) for name, items in content["tables"].items()}
    for row in rows:
        item, columns = as_written(row, encode(row)), KEYS[type(row).__name__]
        name = names[type(row).__name__]
        old = [at for at, one in enumerate(tables[name]) if all(_meet(one[key], item[key]) for key in columns)]
        kept = [one for at, one in enumerate(tables[name]) if at not in old]
        place = old[0] if old else len(kept)
        tables[name] = [*kept[:place], item, *kept[place:]]
    return {**content, "as_of": today, "tables": tables}


def _meet(one: Any, other: Any) -> bool:
    """Equal, or lists with a common member."""
    return bool(set(one) & set(other)) if isinstance(one, list) else bool(one == other)


def own_rows(product: str, overlay: str) -> tuple[Json, str]:
    """The user's rows so far, and what is wrong with their file (it counts as empty then)."""
    if not os.path.exists(path_of(product, overlay)):
        return empty(product), ""
    try:
        return load(product, overlay), ""
    except OverlayDamaged as error:
        return empty(product), f"{error}; it is written again"


def write(product: str, overlay: str, content: Json) -> str:
    """Write the user's rows of a product, wholly or not at all, and return the path; raises NotWritten.

    What lies there takes the rows' place in the directory itself: nothing is written where a link leads.
    """
    path = path_of(product, overlay)
    try:
        for one in (Path(overlay), *Path(overlay).parents):
            if one.is_symlink() and not one.exists():
                raise NotWritten(f"{one}: the symlink points to a path that does not exist")
        own_directory(overlay)
        replace(path, text_of(content))
    except OSError as error:
        raise NotWritten(f"{path}: {error.strerror or error}") from error
    return path


def link_at(product: str, overlay: str) -> str:
    """What to say of a link in place of the user's rows, "" where there is none."""
    path = path_of(product, overlay)
    return f"{path} is a symlink: a regular file replaces it" if os.path.islink(path) else ""
