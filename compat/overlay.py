"""The user's own rows, read from a package index by `gpudoctor matrix refresh` and laid over the shipped tables.

How the two are put together, and why, is docs/decisions/0004-the-overlay.md.
"""

from __future__ import annotations

import os
from typing import Any

from compat.base.errors import DataError, GpudoctorError
from compat.base.mounts import reachable
from compat.base.user_dirs import own_dir
from compat.load import RowReader, load_file, tables_of
from compat.specifier import accepts

VARIABLE = "GPUDOCTOR_MATRIX_OVERLAY"
# What makes two rows of a table the same row; a table that is not here takes no rows of the user's.
KEYS: dict[str, tuple[str, ...]] = {
    "FrameworkRow": ("versions", "build", "os", "arch"),
    "ToolkitRow": ("release",),
    "CudnnRow": ("version",),
    "CudnnBuildRow": ("version", "cuda_major"),
    "CudnnWheelRow": ("id",),
    "ComponentRow": ("release", "component"),
}

_RANGES = {"FrameworkRow": ("versions", "cuda", "cudnn_accepts")}  # columns with a PEP 440 specifier

Json = dict[str, Any]


class OverlayDamaged(GpudoctorError):
    """A file of the overlay breaks the form of the tables; it is ignored."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.hint = f"It is ignored. Delete it ({path}), or run gpudoctor matrix refresh again."


def folder() -> str:
    """The directory of the user's rows: GPUDOCTOR_MATRIX_OVERLAY, else below the user's data directory."""
    named = os.environ.get(VARIABLE)
    if named:
        return reachable(os.path.abspath(named))
    return os.path.join(own_dir("data"), "matrix")


def path_of(product: str, overlay: str) -> str:
    """The file with the user's rows of one product."""
    return os.path.join(overlay, f"{product}.json")


def load(product: str, overlay: str) -> Json:
    """The user's rows of one product, every row checked; raises OverlayDamaged."""
    path = path_of(product, overlay)
    try:
        content = load_file(product, overlay)
        for table, row_type in tables_of(product).items():
            _check(content["tables"][table], row_type, f"{product}.{table}")
    except DataError as error:
        raise OverlayDamaged(path, str(error).removeprefix(f"{path}: ")) from error
    except RecursionError as error:
        raise OverlayDamaged(path, "nested too deeply") from error
    return content


def _check(items: Any, row_type: type, place: str) -> None:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DataError(f"{place} is not a list of rows")
    if items and row_type.__name__ not in KEYS:
        raise DataError(f"{place} takes no rows of the user's")
    reader = RowReader(row_type, place)
    for item in items:
        reader.read(item)
        _check_ranges(item, _RANGES.get(row_type.__name__, ()), f"{place}[{item['id']}]")


def _check_ranges(item: Json, columns: tuple[str, ...], place: str) -> None:
    """A range that is none would fail in the middle of a judgement."""
    for column in columns:
        try:
            accepts(item[column] or "", "1.0")
        except ValueError as error:
            raise DataError(f"{place}.{column}: {error}") from error


def empty(product: str, as_of: str = "") -> Json:
    """The content of a file without rows."""
    from compat.load import SCHEMA

    return {"schema": SCHEMA, "product": product, "as_of": as_of, "tables": {name: [] for name in tables_of(product)}}


def merged(product: str, shipped: Json, own: Json) -> Json:
    """The shipped tables with the user's rows laid over them; neither argument is changed."""
    tables = {
        name: _merged_table(shipped["tables"][name], own["tables"][name], KEYS.get(row_type.__name__, ()))
        for name, row_type in tables_of(product).items()
    }
    return {**shipped, "tables": tables}


def _merged_table(shipped: list[Json], own: list[Json], key: tuple[str, ...]) -> list[Json]:
    """Rows of releases that are not shipped come last; of two rows with one key, see `_joined`."""
    ours = {_key(item, key): item for item in own}
    found = [_joined(item, ours.pop(_key(item, key))) if _key(item, key) in ours else item for item in shipped]
    return [*found, *ours.values()]


def _key(item: Json, columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(item[column]) for column in columns)


def _joined(shipped: Json, own: Json) -> Json:
    """The shipped row, or the user's where the shipped one was not read from the artefact; nulls filled from the other.

    The id stays the shipped one's, which other rows and findings name.
    """
    first, second = (shipped, own) if shipped["confidence"] == "high" else (own, shipped)
    filled = [name for name, value in first.items() if value is None and second[name] is not None]
    row = {name: second[name] if name in filled else value for name, value in first.items()}
    row["id"] = shipped["id"]
    if filled:
        row["source"] = f"{first['source']}; {', '.join(filled)} from {second['source']}"
    return row


def problems(overlay: str) -> tuple[OverlayDamaged, ...]:
    """What is wrong with the files of the overlay, each told once; empty when there is none."""
    try:
        names = sorted(name for name in os.listdir(overlay) if name.endswith(".json"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        return (OverlayDamaged(overlay, error.strerror or str(error)),)
    found = []
    for name in names:
        try:
            load(name.removesuffix(".json"), overlay)
        except OverlayDamaged as error:
            found.append(error)
    return tuple(found)
