"""What is concluded from the rows of a product is refuted by none of them."""

from __future__ import annotations

import pytest

from compat.build import is_cuda_row
from compat.fit import fit
from compat.load import is_framework, products
from compat.matrix import Matrix
from compat.overlap import overlap
from compat.row import FrameworkRow
from compat.solve.candidates import newer_elsewhere, solvable
from compat.spec import Spec
from compat.target import TargetMachine
from compat.version import ComputeCapability
from tests.each import each

pytestmark = pytest.mark.no_cover  # it is about rows: what reads them is covered elsewhere
MATRIX = Matrix()
PRODUCTS = [name for name in products() if is_framework(name) and MATRIX.has(name)]
PLATFORMS = [("linux", "x86_64"), ("linux", "sbsa"), ("linux", "jetson"), ("windows", "x86_64"), ("macos", "sbsa")]


def builds(product: str) -> tuple[FrameworkRow, ...]:
    rows: tuple[FrameworkRow, ...] = MATRIX.rows(product, "builds")
    return rows


@pytest.mark.parametrize("product", [name for name in PRODUCTS if solvable(MATRIX, name)])
def test_what_no_row_has_a_gpu_build_of_has_none(product: str) -> None:
    """It said so of onnxruntime-gpu 1.31, whose row for Windows is of 1.31.* and whose other row is of 1.31.0."""
    for os_family, arch in PLATFORMS:
        for asked in {"", *(row.versions for row in builds(product))}:
            try:
                release = newer_elsewhere(Spec(product, asked, "", ()), os_family, arch, MATRIX)
            except LookupError:
                continue
            sure = [row for row in builds(product) if row.confidence != "low" and is_cuda_row(row)]
            here = [row for row in sure if os_family in row.os and arch in row.arch]
            met = [row.id for row in here if release and overlap((f"=={release}", row.versions)) != "no"]
            assert not met, (os_family, arch, asked, release)


@each("product", PRODUCTS)
def test_only_a_row_of_low_confidence_may_not_exist(product: str) -> None:
    for row in builds(product):
        where = TargetMachine(os_family=row.os[0], arch=row.arch[0])
        doubts = [one for one in fit(row, where, MATRIX).reasons if one.kind == "unknown" and "certain" in one.what]
        assert bool(doubts) == (row.confidence == "low"), row.id


@each("product", PRODUCTS)
def test_a_column_that_was_inferred_makes_no_promise(product: str) -> None:
    for row in builds(product):
        assert set(row.unsure) <= set(row._fields), row.id
        if not (row.targets and is_cuda_row(row)):
            continue
        gpu = ComputeCapability.parse(str(row.targets[-1].capability))
        where = TargetMachine(os_family=row.os[0], arch=row.arch[0], capabilities=(gpu,))
        found = [one for one in fit(row, where, MATRIX).reasons if one.what.startswith(f"has code for {gpu.sm}")]
        assert all((one.kind == "unknown") == ("targets" in row.unsure) for one in found), row.id


def test_a_bound_is_shown_as_a_bound() -> None:
    branches = {row.id: row for row in MATRIX.rows("driver", "branches")}
    assert branches["r346"].end == "at the latest 2022-03"
    assert branches["r340"].end == "2019-12"
    assert all(row.end_of_life for row in branches.values() if row.ended_earlier)
