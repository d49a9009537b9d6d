"""A damaged table is an error that names file, table, row and column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compat.base.errors import DataError
from compat.load import parser_of, products
from compat.matrix import Matrix

ROW: dict[str, Any] = {
    "id": "r580",
    "branch": 580,
    "windows_last": 582,
    "cuda_max": "13.0",
    "kind": "long-term",
    "end_of_life": "2028-06",
    "source": "a page",
    "read_on": "2026-11-20",
    "confidence": "high",
    "note": "",
}


def _matrix(folder: Path, content: Any) -> Matrix:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "driver.json").write_text(text, encoding="utf-8")
    return Matrix(str(folder))


def _file(*rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    outer = {"schema": "gpudoctor.matrix/1", "product": "driver", "as_of": "2026-11-20", "tables": {"branches": rows}}
    return {**outer, **changes}


def test_read(tmp_path: Path) -> None:
    (row,) = _matrix(tmp_path, _file(ROW)).rows("driver", "branches")
    assert (row.branch, str(row.cuda_max)) == (580, "13.0")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"branch": "580"}, "driver.branches[r580].branch: '580' is not int"),
        ({"branch": True}, "driver.branches[r580].branch: True is not int"),
        ({"cuda_max": "13"}, "driver.branches[r580].cuda_max: '13' is not a CUDA version"),
        ({"cuda_max": 13.0}, "driver.branches[r580].cuda_max: 13.0 is not str"),
        ({"kind": None}, "driver.branches[r580].kind: None is not str"),
        ({"cuda_mx": "13.0"}, "driver.branches[r580]: these columns are missing or unknown: cuda_mx"),
    ],
)
def test_wrong_column(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError) as error:
        _matrix(tmp_path, _file({**ROW, **change})).rows("driver", "branches")
    assert str(error.value) == says


def test_missing_column(tmp_path: Path) -> None:
    row = {name: value for name, value in ROW.items() if name != "source"}
    with pytest.raises(DataError, match=r"driver.branches\[r580\]: these columns are missing or unknown: source"):
        _matrix(tmp_path, _file(row)).rows("driver", "branches")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "driver.json: Expecting"),
        ("[]", "driver.json: the keys must be as_of, product, schema, tables"),
        (_file(ROW, schema="gpudoctor.matrix/2"), "schema or product is not gpudoctor.matrix/1, driver"),
        (_file(ROW, product="cuda"), "schema or product is not gpudoctor.matrix/1, driver"),
        (_file(ROW, tables={"branch": []}), "driver.json: the tables must be branches"),
        (_file(ROW, extra=1), "driver.json: the keys must be"),
    ],
)
def test_wrong_file(tmp_path: Path, content: Any, says: str) -> None:
    with pytest.raises(DataError) as error:
        _matrix(tmp_path, content).rows("driver", "branches")
    assert says in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"driver\.json"):
        Matrix(str(tmp_path)).rows("driver", "branches")
    with pytest.raises(DataError, match="has no tables"):
        products(str(tmp_path))


def test_no_table_may_have_a_float() -> None:
    with pytest.raises(DataError, match="float"):
        parser_of("float")
