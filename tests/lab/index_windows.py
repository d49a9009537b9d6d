"""Wheels for Windows of the lab's small package index, by name: as the lab's Windows machines have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compat.matrix import Matrix
from tests.lab import parts
from tests.lab.cases import windows

_TAGS = "cp312-cp312-win_amd64"


def _torch(version: str, site: str) -> parts.Part:
    release, _, build = version.partition("+")
    rows = Matrix().framework_rows("torch", release)
    row = next(row for row in rows if row.build == build and "windows" in row.os)
    return windows.torch(version, str(row.cudnn), site=site)


def _torchvision(version: str, site: str) -> parts.Part:
    tree: parts.Tree = {"torchvision/version.py": f"__version__ = '{version}'\n"}
    return parts.package("torchvision", version, tree, requires=("torch==2.9.1",), site=site, tags=_TAGS)


def _cupy(version: str, site: str) -> parts.Part:
    return parts.package("cupy-cuda12x", version, {"cupy/__init__.py": ""}, site=site, tags=_TAGS)


WHEELS: Mapping[str, Callable[[str, str], parts.Part]] = {
    "torch": _torch,
    "torchvision": _torchvision,
    "onnxruntime-gpu": lambda version, site: windows.onnxruntime(version, site=site),
    "cupy-cuda12x": _cupy,
    "tensorflow": lambda version, site: windows.tensorflow(version, site=site),
}
