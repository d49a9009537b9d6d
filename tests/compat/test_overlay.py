"""The user's own rows: where they lie, how they are laid over the shipped ones, and what damage does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from compat import overlay
from compat.matrix import Matrix, Uncovered
from doctor.commands.refresh.table import text_of, with_rows
from tests.each import each


def shipped_item(row_id: str = "torch-2.9.1-cu128", product: str = "torch", table: str = "builds") -> dict[str, Any]:
    [item] = [item for item in Matrix()._file(product)["tables"][table] if item["id"] == row_id]
    return dict(item)


def write(folder: Path, *items: dict[str, Any], product: str = "torch", table: str = "builds") -> Matrix:
    content = overlay.empty(product, "2030-01-01")
    content["tables"][table] = list(items)
    folder.mkdir(exist_ok=True)
    (folder / f"{product}.json").write_text(text_of(content))
    return Matrix(overlay=str(folder))


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(overlay.VARIABLE, str(tmp_path))
    assert overlay.folder() == str(tmp_path)
    monkeypatch.delenv(overlay.VARIABLE)
    for data in ("", str(tmp_path / "data")):
        monkeypatch.setenv("XDG_DATA_HOME", data)
        assert overlay.folder() == str(platformdirs.user_data_path("gpudoctor", appauthor=False) / "matrix")


def test_a_release_is_added(tmp_path: Path) -> None:
    matrix = write(tmp_path, {**shipped_item(), "id": "torch-99.0.0-cu128", "versions": "==99.0.0"})
    assert matrix.framework("torch", "99.0.0+cu128", "cu128").id == "torch-99.0.0-cu128"
    assert matrix.framework("torch", "2.9.1", "cu128").id == "torch-2.9.1-cu128"
    assert matrix.as_of("torch") == Matrix().as_of("torch")
    with pytest.raises(Uncovered):
        Matrix().framework("torch", "99.0.0", "cu128")


@pytest.mark.parametrize(
    ("row_id", "column", "own", "expected"),
    [
        # the shipped row was read from the wheel too
        ("torch-2.9.1-cu128", "glibc", "2.99", "2.28"),
        # it was not: medium, from a document; the wheel's own word counts
        ("torch-2.9.1-cu130", "glibc", "2.99", "2.99"),
        # nobody had said it
        ("torch-cpu", "python", ["3.12"], ("3.12",)),
        # the user's row does not say it
        ("torch-2.9.1-cu130", "glibc", None, "2.28"),
    ],
)
def test_two_rows_of_one_build(tmp_path: Path, row_id: str, column: str, own: Any, expected: Any) -> None:
    item = {**shipped_item(row_id), "id": "of-the-user", column: own, "source": "a wheel", "confidence": "high"}
    [row] = [row for row in write(tmp_path, item).rows("torch", "builds") if row.id == row_id]
    assert getattr(row, column) == expected
    assert "of-the-user" not in {row.id for row in write(tmp_path, item).rows("torch", "builds")}


def test_a_filled_column_names_its_source(tmp_path: Path) -> None:
    item = {**shipped_item("torch-cpu"), "python": ["3.12"], "source": "a wheel"}
    matrix = write(tmp_path, item)
    [row] = [row for row in matrix.rows("torch", "builds") if row.id == "torch-cpu"]
    assert row.source.endswith("; python from a wheel")


def test_what_is_shipped_stays_as_it_is(tmp_path: Path) -> None:
    before = json.dumps(Matrix()._file("torch"))
    matrix = write(tmp_path, {**shipped_item("torch-2.15.0-cu132-sbsa"), "python": ["3.12"]})
    shipped = Matrix()._file("torch")
    overlay.merged("torch", shipped, overlay.load("torch", str(tmp_path)))
    assert json.dumps(shipped) == before
    assert matrix.has("torch")


def test_cudnn_rows(tmp_path: Path) -> None:
    item = {**shipped_item("cudnn-9.28.0", "cudnn", "releases"), "id": "cudnn-9.99.0", "version": "9.99.0"}
    matrix = write(tmp_path, item, product="cudnn", table="releases")
    assert matrix.rows("cudnn", "releases")[-1].id == "cudnn-9.99.0"


DAMAGE = {
    "empty": "",
    "cut off": '{"schema": "gpudoctor.matrix/1", "prod',
    "not an object": "[]",
    "another schema": json.dumps({**overlay.empty("torch"), "schema": "gpudoctor.matrix/9"}),
    "of another product": json.dumps({**overlay.empty("torch"), "product": "jax"}),
    "no tables": json.dumps({**overlay.empty("torch"), "tables": {}}),
    "tables are a list": json.dumps({**overlay.empty("torch"), "tables": []}),
    "rows are no list": json.dumps({**overlay.empty("torch"), "tables": {"builds": {}}}),
    "a row is no object": json.dumps({**overlay.empty("torch"), "tables": {"builds": [1]}}),
    "a column is missing": json.dumps({**overlay.empty("torch"), "tables": {"builds": [{"id": "x"}]}}),
    "no date": json.dumps({**overlay.empty("torch"), "as_of": 1}),
    "nested too deeply": "[" * 100_000,
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_one_message_and_ignored(tmp_path: Path, kind: str) -> None:
    (tmp_path / "torch.json").write_text(DAMAGE[kind])
    matrix = Matrix(overlay=str(tmp_path))
    assert matrix.rows("torch", "builds") == Matrix().rows("torch", "builds")
    [problem] = matrix.overlay_problems
    assert str(problem).startswith(str(tmp_path / "torch.json"))
    assert str(problem).count(str(tmp_path)) == 1
    assert "gpudoctor matrix refresh" in problem.hint


@pytest.mark.parametrize(("column", "value"), [("glibc", 2.28), ("versions", ">=2.9 or so"), ("cuda", "twelve")])
def test_a_wrong_value_names_the_column(tmp_path: Path, column: str, value: object) -> None:
    matrix = write(tmp_path, {**shipped_item(), column: value})
    [problem] = matrix.overlay_problems
    assert f"torch.builds[torch-2.9.1-cu128].{column}" in str(problem)


def test_tables_that_take_no_rows(tmp_path: Path) -> None:
    item = dict(Matrix()._file("conflicts")["tables"]["known"][0])
    [problem] = write(tmp_path, item, product="conflicts", table="known").overlay_problems
    assert "takes no rows of the user's" in str(problem)


@pytest.mark.parametrize("place", ["", "/nowhere/at/all"])
def test_no_overlay(place: str) -> None:
    matrix = Matrix(overlay=place)
    assert (matrix.has_overlay, matrix.overlay_problems) == (False, ())
    assert matrix.has("torch")
    assert not matrix.has("nothing")


def test_the_users_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(overlay.VARIABLE, str(tmp_path))
    write(tmp_path, {**shipped_item(), "id": "torch-99.0.0-cu128", "versions": "==99.0.0"})
    assert Matrix.of_user().framework("torch", "99.0.0", "cu128").versions == "==99.0.0"
    assert not Matrix().framework_rows("torch", "99.0.0")


def test_an_overlay_costs_check_nothing_it_does_not_open(tmp_path: Path) -> None:
    matrix = write(tmp_path, shipped_item())
    assert list(matrix.files_read) == []
    assert matrix.as_of()
    assert list(matrix.files_read) == ["cuda"]


@each("path", sorted((Path(overlay.__file__).parent / "data").glob("*.json")))
def test_tables_are_written_as_the_shipped_ones_are(path: Path) -> None:
    if path.stem != "schema":
        text = path.read_text(encoding="utf-8")
        assert text_of(json.loads(text)) == text


def test_rows_are_replaced_by_their_key() -> None:
    [row] = [row for row in Matrix().rows("torch", "builds") if row.id == "torch-2.9.1-cu128"]
    content = with_rows(overlay.empty("torch"), [row, row._replace(glibc="2.99")], "2030-01-01")
    assert [item["glibc"] for item in content["tables"]["builds"]] == ["2.99"]
    both = with_rows(content, [row._replace(arch=("x86_64", "sbsa")), row._replace(build="cu99")], "2030-01-02")
    assert [(item["build"], item["arch"]) for item in both["tables"]["builds"]] == [
        ("cu128", ["x86_64", "sbsa"]),
        ("cu99", ["x86_64"]),
    ]
    assert (content["as_of"], both["as_of"]) == ("2030-01-01", "2030-01-02")
