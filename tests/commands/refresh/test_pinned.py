"""The Pythons of a build that is one wheel for many, by the wheels of what it requires."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from doctor.commands.refresh.pinned import on_pinned_pythons

MATRIX = Matrix()
ALL = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")


@pytest.mark.parametrize(
    ("pins", "left"),
    [
        ({"torch": "==2.8.0"}, ("3.9", "3.10", "3.11", "3.12", "3.13")),
        ({"torch": ">=2.10"}, ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15")),
        ({"torch": "==2.8.0", "numba": "==0.60.*"}, ("3.9", "3.10", "3.11", "3.12")),
        ({"torch": "==99.0"}, ALL),  # of a torch of today nothing is known yet
        ({"numpy": "<2"}, ALL),  # no product of the matrix
        ({}, ALL),
    ],
)
def test_a_python_without_a_wheel_of_what_is_required_is_none(pins: dict[str, str], left: tuple[str, ...]) -> None:
    row = MATRIX.framework("xformers", "0.0.34")._replace(python=ALL, pins=pins)
    narrowed = on_pinned_pythons(row, MATRIX)
    assert narrowed.python == left
    assert ("which it requires" in narrowed.note) is (left != ALL)


def test_what_nobody_knows_stays_unknown() -> None:
    row = MATRIX.framework("xformers", "0.0.34")
    assert on_pinned_pythons(row._replace(python=None), MATRIX).python is None
    assert on_pinned_pythons(row._replace(python=ALL, pins=None), MATRIX).python == ALL


def test_the_shipped_builds_of_one_wheel_for_many_have_no_other_pythons() -> None:
    rows = (*MATRIX.rows("xformers", "builds"), *MATRIX.rows("vllm", "builds"), *MATRIX.rows("cudf-cu12", "builds"))
    assert [row.id for row in rows if on_pinned_pythons(row, MATRIX).python != row.python] == []
