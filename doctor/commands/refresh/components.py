"""Rows about the archives of a CUDA toolkit's components, from NVIDIA's redistributable manifests.

A manifest whose digest the matrix knows must be that one. Of a newer one nothing is known but that NVIDIA's server sent
it, or that the user named it (`--manifests`): the rows say so.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from compat.artefact import ComponentRow
from compat.matrix import Matrix
from doctor.commands.refresh.nvidia import MANIFEST_BYTES
from doctor.commands.refresh.web import Unreachable, Web, shown

PLATFORMS = ("linux-x86_64", "linux-sbsa", "windows-x86_64")
_SOURCE = "nvidia.com:/compute/cuda/redist/redistrib_{release}.json"  # the whole address is in redist.json
_LICENCE = "CUDA Toolkit"  # the driver's parts, Nsight and the switches' tools have others
_NO_PART_OF_A_TOOLKIT = frozenset(
    {
        "cuda_compat",
        "cuda_compat_orin",
        "cuda_demo_suite",
        "cuda_documentation",
        "cuda_nsight",
        "cuda_nvvp",
        "libnvvm_samples",
        "nsight_nvtx",
        "nvidia_fs",
        "visual_studio_integration",
    }
)


def component_rows(release: str, url: str, matrix: Matrix, web: Web, today: str) -> list[ComponentRow]:
    """The rows of one release; raises Unreachable, also for a manifest that is not the one that the matrix names."""
    page = web.page(url, MANIFEST_BYTES)
    if page is None:
        raise Unreachable(f"{shown(url)}: no such file")
    digest = hashlib.sha256(page.content).hexdigest()
    known = [row for row in matrix.rows("redist", "manifests") if (row.product, row.release) == ("cuda", release)]
    if known and digest not in {row.sha256 for row in known}:
        raise Unreachable(
            f"{shown(url)}: its SHA-256 is {digest}, NVIDIA's manifest of {release} has {known[0].sha256}"
        )
    source = _SOURCE.format(release=release) if known else shown(url)
    try:
        parts = {name: part for name, part in json.loads(page.content).items() if _is_wanted(name, part)}
        rows = [_row(release, name, part, source, today, is_known=bool(known)) for name, part in parts.items()]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Unreachable(f"{shown(url)}: this is not a redistributable manifest ({type(error).__name__})") from error
    if not rows:
        raise Unreachable(f"{shown(url)}: has no toolkit component")
    return rows


def _is_wanted(name: str, part: Any) -> bool:
    return (
        isinstance(part, dict)
        and part["license"] == _LICENCE
        and name not in _NO_PART_OF_A_TOOLKIT
        and any(platform in part for platform in PLATFORMS)
    )


def _row(  # noqa: PLR0913 - a part of a manifest, and where that was read
    release: str, name: str, part: Any, source: str, today: str, *, is_known: bool
) -> ComponentRow:
    files = {platform: part[platform] for platform in PLATFORMS if platform in part}
    for platform, file in files.items():
        version = str(part["version"])
        # A row has no column for the path: it follows from the other columns; raises ValueError where it does not.
        suffix = "zip" if platform.startswith("windows") else "tar.xz"
        if file["relative_path"] != f"{name}/{platform}/{name}-{platform}-{version}-archive.{suffix}":
            raise ValueError(file["relative_path"])
    return ComponentRow(
        id=f"{release}-{name}",
        release=release,
        component=name,
        version=str(part["version"]),
        title=str(part["name"]),
        sha256={platform: _digest(file["sha256"]) for platform, file in files.items()},
        size_bytes={platform: _size(file["size"]) for platform, file in files.items()},
        source=source,
        read_on=today,
        confidence="high" if is_known else "medium",
        note="" if is_known else "the checksum of this manifest is unknown; it was read without a check",
    )


def _digest(said: Any) -> str:
    digest = str(said).lower()
    if len(digest) != hashlib.sha256().digest_size * 2 or digest.strip("0123456789abcdef"):
        raise ValueError(digest)
    return digest


def _size(said: Any) -> int:
    """The bytes of an archive; raises ValueError for what no file has."""
    size = int(said)
    if size <= 0:
        raise ValueError(said)
    return size
