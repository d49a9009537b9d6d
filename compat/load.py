"""Read the tables under `compat/data`: strictly, lazily, with errors that name file, table, row and column."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from compat.base.errors import DataError
from compat.row import ARTEFACT_PRODUCTS, FRAMEWORK_TABLES, PLATFORM_PRODUCTS, TABLES
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion, DriverRelease, VersionError

DATA = os.path.join(os.path.dirname(__file__), "data")
SCHEMA = "gpudoctor.matrix/1"

Parse = Callable[[Any], Any]
T = TypeVar("T")


def _exactly(kind: type[T]) -> Callable[[Any], T]:
    def parse(value: Any) -> T:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is not {kind.__name__}")
        return value

    return parse


def _tuple_of(parse: Parse) -> Parse:
    return lambda value: tuple(map(parse, _exactly(list)(value)))


def _text_mapping(value: Any) -> dict[str, str]:
    text = _exactly(str)
    mapping: dict[Any, Any] = _exactly(dict)(value)
    return {text(key): text(item) for key, item in mapping.items()}


def _number_mapping(value: Any) -> dict[str, int]:
    mapping: dict[Any, Any] = _exactly(dict)(value)
    return {_exactly(str)(key): _exactly(int)(item) for key, item in mapping.items()}


def _text_then(parse: Callable[[str], Any]) -> Parse:
    """Each text is parsed once: a table says the same few versions and targets thousands of times."""
    text, parsed = _exactly(str), lru_cache(maxsize=4096)(parse)
    return lambda value: parsed(text(value))


_PARSERS: dict[str, Parse] = {
    "str": _exactly(str),
    "int": _exactly(int),
    "bool": _exactly(bool),
    "CudaVersion": _text_then(CudaVersion.parse),
    "CudnnVersion": _text_then(CudnnVersion.parse),
    "DriverRelease": _text_then(DriverRelease.parse),
    "ComputeCapability": _text_then(ComputeCapability.parse),
    "CodeTarget": _text_then(CodeTarget.parse),
    "dict[str, str]": _text_mapping,
    "dict[str, int]": _number_mapping,
}


def parser_of(annotation: str) -> Parse:
    """The parser for a column of this type; raises DataError for a type no table may have."""
    if annotation.endswith(" | None"):
        parse = parser_of(annotation.removesuffix(" | None"))
        return lambda value: None if value is None else parse(value)
    if annotation.startswith("tuple["):
        return _tuple_of(parser_of(annotation.removeprefix("tuple[").removesuffix(", ...]")))
    if annotation not in _PARSERS:
        raise DataError(f"no table may have a column of type {annotation}")
    return _PARSERS[annotation]


def columns_of(row_type: type) -> dict[str, str]:
    """Column names and the spelling of their types ("tuple[CodeTarget, ...] | None"), in order."""
    return {name: _spelling(annotation) for name, annotation in row_type.__annotations__.items()}


def defaults_of(row_type: type) -> dict[str, Any]:
    """Columns that a row may leave out, with the value that they have then."""
    return dict(getattr(row_type, "_field_defaults", {}))


def as_written(row: Any, item: dict[str, Any]) -> dict[str, Any]:
    """A row's columns as JSON without those that it may leave out."""
    left_out = {name for name, value in defaults_of(type(row)).items() if getattr(row, name) == value}
    return {name: value for name, value in item.items() if name not in left_out}


def _spelling(annotation: Any) -> str:
    generic = hasattr(annotation, "__args__")
    return (str(annotation) if generic else str(annotation.__name__)).replace("compat.version.", "")


class RowReader:
    """Turns the JSON objects of one table into rows of one type."""

    def __init__(self, row_type: type, place: str) -> None:
        self._row_type = row_type
        self._place = place
        self._parsers = {name: parser_of(annotation) for name, annotation in columns_of(row_type).items()}
        self._defaults = {name: list(value) if value == () else value for name, value in defaults_of(row_type).items()}

    def read(self, item: dict[str, Any]) -> Any:
        """One row; raises DataError naming the table, the row's id and the column."""
        if item.keys() != self._parsers.keys():
            item = {**self._defaults, **item}
        if item.keys() != self._parsers.keys():
            odd = ", ".join(sorted(item.keys() ^ self._parsers.keys()))
            raise DataError(f"{self._place}[{item.get('id', '?')}]: these columns are missing or unknown: {odd}")
        name, values = "", []
        try:
            for name, parse in self._parsers.items():
                values.append(parse(item[name]))
        except (TypeError, VersionError) as error:
            raise DataError(f"{self._place}[{item.get('id', '?')}].{name}: {error}") from error
        return self._row_type(*values)


def products(data: str = DATA) -> tuple[str, ...]:
    """The products that have a file; raises DataError when there is none."""
    found = sorted(
        name.removesuffix(".json") for name in os.listdir(data) if name.endswith(".json") and name != "schema.json"
    )
    if not found:
        raise DataError(f"{data} has no tables")
    return tuple(found)


def tables_of(product: str) -> dict[str, type]:
    """The tables, with their row types, that the file of this product must have."""
    if product in TABLES:
        return TABLES[product]
    if product in ARTEFACT_PRODUCTS:
        from compat.artefact import ARTEFACT_TABLES  # late: a diagnosis needs none of these row types

        return ARTEFACT_TABLES[product]
    if product in PLATFORM_PRODUCTS:
        from compat.platform_row import PLATFORM_TABLES  # late, likewise

        return PLATFORM_TABLES[product]
    return FRAMEWORK_TABLES


def is_framework(product: str) -> bool:
    """Whether the file of this product holds builds of a framework (or of a package that goes with one)."""
    return product not in TABLES and product not in ARTEFACT_PRODUCTS and product not in PLATFORM_PRODUCTS


def load_file(product: str, data: str = DATA) -> dict[str, Any]:
    """The JSON of one product's file, its outermost shape checked; raises DataError."""
    path = os.path.join(data, f"{product}.json")
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error
    expected = {"schema", "product", "as_of", "tables"}
    if not isinstance(content, dict) or content.keys() != expected:
        raise DataError(f"{path}: the keys must be {', '.join(sorted(expected))}")
    if content["schema"] != SCHEMA or content["product"] != product:
        raise DataError(f"{path}: schema or product is not {SCHEMA}, {product}")
    if not isinstance(content["as_of"], str):
        raise DataError(f"{path}: as_of is not a date")
    if not isinstance(content["tables"], dict) or content["tables"].keys() != tables_of(product).keys():
        raise DataError(f"{path}: the tables must be {', '.join(tables_of(product))}")
    return content
