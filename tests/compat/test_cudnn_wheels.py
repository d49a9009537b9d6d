"""The cuDNN that pip brings beside a build is one that the build loads."""

from __future__ import annotations

from compat.abi import distribution_limits
from compat.load import products, tables_of
from compat.matrix import Matrix, accepts
from compat.row import FrameworkRow
from compat.version import CudnnVersion
from tests.each import each

MATRIX = Matrix()
WHEELS: dict[str, tuple[CudnnVersion, ...]] = {row.id: row.releases for row in MATRIX.rows("cudnn", "wheels")}
BUILDS: list[tuple[FrameworkRow, str]] = [
    (row, name)
    for product in products()
    if "builds" in tables_of(product)
    for row in MATRIX.rows(product, "builds")
    if isinstance(row, FrameworkRow)
    for name in row.pins or ()
    if name in WHEELS and row.cudnn_accepts
]


def newest(row: FrameworkRow, name: str, limit: str = "") -> CudnnVersion:
    """The release that pip takes for what a build requires, and for a limit besides."""
    asked = filter(None, ((row.pins or {})[name], limit))
    specifier = ",".join(asked)
    return max(one for one in WHEELS[name] if accepts(specifier, str(one)))


@each(("row", "name"), BUILDS)
def test_pip_brings_a_cudnn_that_the_build_loads(row: FrameworkRow, name: str) -> None:
    limit = distribution_limits(row, row.versions, MATRIX).get(name, "")
    assert accepts(row.cudnn_accepts or "", str(newest(row, name, limit).release))


def test_some_builds_are_kept_from_a_newer_one_that_they_ask_for() -> None:
    """Their own requirement alone would bring cuDNN 9."""
    kept = {row.id for row, name in BUILDS if not accepts(row.cudnn_accepts or "", str(newest(row, name).release))}
    assert {"tensorrt-8.5.3.1-cu118", "tensorrt-8.6.0", "jax-cuda12-plugin-0.4.25"} <= kept
