"""A small index of real wheels without their bulk, for installers that shall really run.

pip and uv read the names, tags, metadata and files of a wheel, and the checks read what `distil` leaves of its
libraries; so a distilled wheel is packed again, and some megabytes serve for a gigabyte.
"""

from __future__ import annotations

import fcntl
import os
import re
import zipfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from tests.real.distil import distilled
from tests.wheels import CACHE


def wheelhouse(requirements: Iterable[str], folder: Path, python: str = "3.11") -> Path:
    """A directory for `--find-links` with these wheels."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in requirements:
        wheel = packed(one, python)
        if not (folder / wheel.name).exists():
            (folder / wheel.name).symlink_to(wheel)
    return folder


def packed(requirement: str, python: str = "3.11") -> Path:
    """The small wheel of one pinned requirement; made once."""
    source = distilled(requirement, python)
    (info,) = source.glob("*.dist-info")
    place = CACHE / "packed" / f"{info.name.removesuffix('.dist-info')}-{_tags(info)}.whl"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _pack(source, place.with_suffix(".part"))
            place.with_suffix(".part").rename(place)
    return place


def _tags(info: Path) -> str:
    """The tags of its file name: "cp311-cp311-manylinux_2_28_x86_64", several of a kind joined by dots."""
    said = [tag.split("-") for tag in re.findall(r"^Tag: (\S+)", (info / "WHEEL").read_text(), re.MULTILINE)]
    kinds = [sorted({tag[kind] for tag in said}) for kind in range(3)]
    assert len(said) == len(list(product(*kinds))), f"{info}: no file name says these tags"
    return "-".join(".".join(kind) for kind in kinds)


def _pack(source: Path, place: Path) -> None:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for folder, _, names in os.walk(source):
            for name in sorted(names):
                path = Path(folder, name)
                archive.write(path, path.relative_to(source))
