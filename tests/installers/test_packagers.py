"""Names and digests of NVIDIA's archives beside what packagers published.

packagers.json is a draw of 100 (seed 13): 70 of the 1,368 files of CUDA's components that conda-forge's recipes name in
their history, 30 of the 217 of cuDNN that Spack's recipe names as the rows do.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compat.matrix import Matrix
from installers.cuda_order import CudaOrder
from installers.methods.cuda_archive import archive_plan
from installers.steps.download import Download
from tests.installers.target import UBUNTU

PUBLISHED = json.loads(Path(__file__).with_name("packagers.json").read_text())
TARGETS = {
    "linux-x86_64": ("linux", "x86_64"),
    "linux-sbsa": ("linux", "sbsa"),
    "windows-x86_64": ("windows", "x86_64"),
}


def known(matrix: Matrix) -> dict[str, set[str]]:
    """The digests of every archive that the rows name, by file name."""
    found: dict[str, set[str]] = {}
    for row in matrix.rows("redist-component", "components"):
        for platform, digest in row.sha256.items():
            suffix = "zip" if platform.startswith("windows") else "tar.xz"
            found.setdefault(f"{row.component}-{platform}-{row.version}-archive.{suffix}", set()).add(digest)
    for row in matrix.rows("cudnn-archive", "archives"):
        found.setdefault(row.url.rpartition("/")[2], set()).update(row.sha256)
    return found


def test_a_hundred_archives_are_as_packagers_published_them() -> None:
    rows = known(Matrix())
    assert len({one["file"] for one in PUBLISHED}) == 100
    assert [one["file"] for one in PUBLISHED if rows.get(one["file"]) != {one["sha256"]}] == []
    for one in PUBLISHED:
        assert re.fullmatch(r"[\w-]+/[\w-]+:recipe/meta\.yaml@[0-9a-f]{7,}|spack/.+@[0-9a-f]{8}", one["source"]), one


@pytest.mark.parametrize("platform", TARGETS)
def test_a_plan_asks_for_the_published_digests(platform: str) -> None:
    """Not the rows alone: what is printed and carried out."""
    published = {one["file"]: one["sha256"] for one in PUBLISHED if f"-{platform}-" in one["file"]}
    matrix, (os_family, arch) = Matrix(), TARGETS[platform]
    asked: dict[str, str] = {}
    for release in sorted({row.release for row in matrix.rows("redist-component", "components")}):
        target = UBUNTU._replace(os_family=os_family, arch=arch)
        for step in archive_plan(CudaOrder(release), target, matrix).steps:
            if isinstance(step, Download):
                asked.setdefault(step.to, step.sha256[0])
    drawn = {name: digest for name, digest in published.items() if not name.startswith("cudnn-")}
    assert len(drawn) > 10
    assert {name: asked.get(name) for name in drawn} == drawn
