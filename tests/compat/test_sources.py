"""What a row names as its source can be its source."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from compat.load import is_framework, products, tables_of
from compat.matrix import Matrix, accepts
from compat.row import FrameworkRow

pytestmark = pytest.mark.no_cover  # it is about rows: what reads them is covered elsewhere
MATRIX = Matrix()
_WHEEL = re.compile(r"([\w.]+?)-(\d[^-; /]*)-(?:cp|py)[^-; ]*-[^-; ]+-([^; /)]+?)\.whl")
_SYSTEMS = {"linux": "linux", "win": "windows", "macosx": "macos"}
_MACHINES = {"x86_64": {"x86_64"}, "amd64": {"x86_64"}, "aarch64": {"sbsa", "jetson"}, "arm64": {"sbsa"}}


def _own_wheels(row: FrameworkRow) -> Iterator[tuple[str, str]]:
    """Version and platform tag of each wheel of the row's own package that its source names."""
    for project, version, tag in _WHEEL.findall(row.source):
        if project.lower().replace("_", "-") == row.package:
            yield version.partition("+")[0], tag


def _of_another_platform(tag: str, row: FrameworkRow) -> bool:
    systems = {system for start, system in _SYSTEMS.items() if re.search(rf"(^|many){start}", tag)}
    machines = {machine for end, own in _MACHINES.items() if end in tag for machine in own}
    return bool(systems - set(row.os)) or bool(machines and machines.isdisjoint(row.arch))


@pytest.mark.parametrize("package", [name for name in products() if is_framework(name)])
def test_a_wheel_that_is_named_is_of_the_row(package: str) -> None:
    """Or the note says which release it is of, and that a value was taken over from there."""
    rows = [row for row in MATRIX.rows(package, "builds") if not row.build.startswith("jp")]  # Jetson's own numbers
    foreign = [
        (row.id, version, tag)
        for row in rows
        for version, tag in _own_wheels(row)
        if version not in row.note and (not accepts(row.versions, version) or _of_another_platform(tag, row))
    ]
    assert foreign == []


@pytest.mark.parametrize("product", products())
def test_nothing_is_named_twice(product: str) -> None:
    rows = [row for table in tables_of(product) for row in MATRIX.rows(product, table)]
    parts = {row.id: row.source.split("; ") for row in rows}
    assert [name for name, own in parts.items() if len(set(own)) < len(own)] == []


def test_what_a_single_recipe_says_is_of_medium_confidence() -> None:
    """Somebody else's copy, with no second one beside it: CONTRIBUTING.md, "A row of the matrix"."""
    rows = [*MATRIX.rows("cudnn-archive", "archives"), *MATRIX.rows("cuda-installer", "installers")]
    assert [row.id for row in rows if row.digest_from in {"", "one"} and row.confidence == "high"] == []
