"""Rows about cuDNN and the CUDA toolkit: from cuDNN's wheels and from NVIDIA's redistributable manifests."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.version import Version

from compat.matrix import Matrix
from compat.row import CudnnBuildRow, CudnnRow, CudnnWheelRow, ToolkitRow
from compat.version import CudaVersion, CudnnVersion, DriverRelease, VersionError
from doctor.commands.refresh.framework import Release, releases_of
from doctor.commands.refresh.index import Index
from doctor.commands.refresh.listing import links_of, wheels_of
from doctor.commands.refresh.requirements import Platform
from doctor.commands.refresh.web import Unreachable, Web, shown
from doctor.commands.refresh.wheel_host import WheelHost
from doctor.host import BadRequest, HostError

MANIFEST_BYTES = 4 << 20
_MANIFEST = r"redistrib_(\d+(?:\.\d+)+)\.json"
_TELLING = {"cudnn": "cudnn", "cuda_cudart": "cuda"}  # a component that is in the manifests of one product alone
_MAJOR = r"[1-9]\d?"  # of CUDA, as the manifests of cuDNN name it
_DEPTH_AT_MOST = 4  # of folders below the one that is named
Row = CudnnRow | CudnnBuildRow | ToolkitRow


def cudnn_projects(matrix: Matrix) -> dict[str, int]:
    """The projects with cuDNN's wheels and the CUDA major of each: every one that has builds, and the next."""
    majors = {row.cuda_major for row in matrix.rows("cudnn", "builds")}
    return {f"nvidia-cudnn-cu{major}": major for major in sorted({*majors, max(majors) + 1})}


def cudnn_releases(
    indexes: Iterable[Index], matrix: Matrix, web: Web
) -> tuple[dict[Version, list[tuple[int, Release]]], tuple[str, ...]]:
    """The releases on the indexes by version (three parts), each with its CUDA major, and what could not be read."""
    found: dict[Version, list[tuple[int, Release]]] = {}
    problems: list[str] = []
    indexes = tuple(indexes)
    for project, major in cudnn_projects(matrix).items():
        wheels, failed = wheels_of(project, indexes, web)
        problems += [one for one in failed if one not in problems]
        finals = (wheel for wheel in wheels if not wheel.is_yanked and not wheel.version.is_prerelease)
        for release in releases_of(project, finals):
            version = Version(".".join(release.public.split(".")[:3]))
            found.setdefault(version, []).append((major, release))
    return found, tuple(problems)


def cudnn_rows(version: Version, releases: list[tuple[int, Release]], web: Web, today: str) -> list[Row]:
    """The row of a release and one for each CUDA major, from the names in its wheels; raises Unreachable.

    The last build of a version is read for each platform; what a platform has no wheel for stays unknown.
    """
    newest = {release.platform: release for _, release in sorted(releases, key=lambda pair: Version(pair[1].version))}
    linux = newest.get(Platform("linux", "x86_64")) or newest.get(Platform("linux", "sbsa"))
    if linux is None:
        raise Unreachable(f"cuDNN {version} has no wheel for Linux")
    names, source = _names(linux, web)
    main = next((name for name in names if re.fullmatch(r"libcudnn\.so\.\d+", name)), None)
    header = next((name for name in ("cudnn_version.h", "cudnn.h") if name in names), None)
    if not main or not header:
        raise Unreachable(f"{source}: has no libcudnn.so and header")
    windows = newest.get(Platform("windows", "x86_64"))
    dlls, dll_source = _names(windows, web) if windows else (set(), "")
    full = sorted({release.public for _, release in releases}, key=Version)
    row = CudnnRow(
        id=f"cudnn-{version}",
        version=CudnnVersion.parse(str(version)),
        full_versions=tuple(map(CudnnVersion.parse, full)),
        soname=main,
        header=header,
        parts_linux=tuple(sorted(name for name in names if re.fullmatch(r"libcudnn_\w+\.so\.\d+", name))),
        parts_windows=tuple(sorted(name for name in dlls if re.fullmatch(r"cudnn_\w+64_\d+\.dll", name))) or None,
        source="; ".join(filter(None, (source, dll_source))),
        read_on=today,
        confidence="high",
        note="",
    )
    return [row, *_builds(row, sorted({major for major, _ in releases}), today)]


def wheel_rows(by_version: dict[Version, list[tuple[int, Release]]], matrix: Matrix, today: str) -> list[CudnnWheelRow]:
    """The row of each of cuDNN's distributions with the releases that were not known of it; none without such ones.

    Of releases for Windows alone (8.9.5.29) it says nothing.
    """
    found = []
    for project, major in cudnn_projects(matrix).items():
        every = (one for releases in by_version.values() for of, one in releases if of == major)
        served = {one.public for one in every if one.platform.os_family == "linux"}
        known = [row for row in matrix.rows("cudnn", "wheels") if row.id == project]
        old = {str(release) for row in known for release in row.releases}
        full = {one for one in served if re.fullmatch(r"\d+(\.\d+){3}", one)}  # not 9.0.0.312.post1
        if full - old:
            releases = tuple(map(CudnnVersion.parse, sorted(full | old, key=Version)))
            source = known[0].source if known else f"file names of the wheels of {project}"
            found.append(CudnnWheelRow(project, major, releases, source, read_on=today, confidence="high", note=""))
    return found


def _builds(row: CudnnRow, majors: Iterable[int], today: str) -> list[CudnnBuildRow]:
    unknown: dict[str, Any] = dict.fromkeys(
        ("cuda_min", "cuda_max", "capability_min", "capability_max", "driver_linux", "driver_windows")
    )
    return [
        CudnnBuildRow(
            id=f"{row.id}-cuda{major}",
            version=row.version,
            cuda_major=major,
            source=row.source,
            read_on=today,
            confidence="high",
            note="it exists; its ranges were not read",
            **unknown,
        )
        for major in majors
    ]


def _names(release: Release, web: Web) -> tuple[set[str], str]:
    """The names of all files in a wheel, and the wheel's name; raises Unreachable."""
    wheel = release.wheels[-1]
    host = WheelHost(wheel, web, *release.platform, "")
    try:
        return {path.rpartition("/")[2] for path in host.paths()}, wheel.name
    except HostError as error:
        raise Unreachable(str(error)) from error
    finally:
        host.close()


def manifests(product: str, matrix: Matrix, web: Web, place: str = "") -> tuple[dict[str, str], tuple[str, ...]]:
    """The manifests that NVIDIA serves for a product, or that lie at a place: release -> URL; and what is none.

    Raises Unreachable where there is nothing to read at all.

    The folder is that of the manifests the matrix knows (table manifests of redist.json). `place` is a file, or a
    directory as a mirror has it: NVIDIA names the files of all its products alike, so their content tells them apart.
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for release, url in _lying(place) if place else ():
        try:
            found |= {release: url} if _product_of(url, web) == product else {}
        except Unreachable as error:  # of no product that could be told: the others are read
            problems.append(str(error))
    if place:
        return found, tuple(problems)
    known = [row.url for row in matrix.rows("redist", "manifests") if row.product == product]
    for folder in dict.fromkeys(url.rpartition("/")[0] + "/" for url in known):
        for name, url in links_of(folder, web):
            named = re.fullmatch(_MANIFEST, name)
            if named:
                found[named[1]] = url
    return found, ()


def _lying(place: str) -> Iterator[tuple[str, str]]:
    """Release and "file:" URL of every manifest in a directory, or of the one file; raises Unreachable."""
    folders = os.walk(place) if os.path.isdir(place) else [(os.path.dirname(place), [], [os.path.basename(place)])]
    found = False
    for folder, below, names in folders:
        if len(os.path.relpath(folder or ".", place).split(os.sep)) >= _DEPTH_AT_MOST:
            below.clear()
        below.sort()
        for name in sorted(names):
            release = re.fullmatch(_MANIFEST, name)
            if release and os.path.isfile(os.path.join(folder, name)):
                found = True
                yield release[1], Path(folder, name).absolute().as_uri()
    if not found:
        raise Unreachable(f"{place}: it has no NVIDIA manifest (such as redistrib_13.0.2.json)")


def require_manifest(place: str, web: Web) -> None:
    """Raise BadRequest where all that lies there can be read, and nothing of it lists what CUDA or cuDNN has."""
    try:
        named = [_product_of(url, web) for _, url in _lying(place)]
    except Unreachable:
        return  # said of the product that it is read for
    if not {*named} & {*_TELLING.values()}:
        raise BadRequest(f"--manifests {place}: no manifest there has a component of CUDA or cuDNN")


def _product_of(url: str, web: Web) -> str:
    """The product of a manifest, "" for one without components."""
    page = web.page(url, MANIFEST_BYTES)
    try:
        said: Any = json.loads(page.content if page else b"")
        if not any(isinstance(part, dict) for part in said.values()):
            return ""
        named = said.get("release_product")  # since CUDA 12
        return str(named or next((name for part, name in _TELLING.items() if part in said), ""))
    except (ValueError, AttributeError, RecursionError) as error:
        raise Unreachable(f"{shown(url)}: this is not a redistributable manifest ({type(error).__name__})") from error


def manifest_rows(product: str, url: str, matrix: Matrix, web: Web, today: str) -> list[Row]:
    """The rows of one manifest; raises Unreachable, also for one that is not of the known form."""
    page = web.page(url, MANIFEST_BYTES)
    if page is None:
        raise Unreachable(f"{shown(url)}: no such file")
    try:
        said: Any = json.loads(page.content)
        if product == "cudnn":
            return _cudnn_of(said, shown(url), matrix, today)
        return [_toolkit_of(said, shown(url), matrix, today)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, VersionError) as error:
        raise Unreachable(f"{shown(url)}: this is not a redistributable manifest ({type(error).__name__})") from error


def _cudnn_of(said: Any, source: str, matrix: Matrix, today: str) -> list[Row]:
    """Version and CUDA variants; SONAME and header are those of the release before, which are one for a major."""
    full = CudnnVersion.parse(said["cudnn"]["version"])
    same = [row for row in matrix.rows("cudnn", "releases") if row.version.major == full.major]
    if not same:
        raise Unreachable(f"{source}: cuDNN {full.major} is newer than all known file lists")
    before = max(same, key=lambda row: row.version)
    row = CudnnRow(
        id=f"cudnn-{full.release}",
        version=full.release,
        full_versions=(full,),
        soname=before.soname,
        header=before.header,
        parts_linux=None,
        parts_windows=None,
        source=source,
        read_on=today,
        confidence="medium",
        note=f"SONAME and header as those of {before.version}",
    )
    return [row, *_builds(row, _majors(said["cudnn"].get("cuda_variant", [])), today)]


def _majors(said: Any) -> list[int]:
    """The majors of CUDA that a manifest lists; raises ValueError for what is no such list."""
    if not isinstance(said, list) or not all(re.fullmatch(_MAJOR, str(one), re.ASCII) for one in said):
        raise ValueError(said)
    return sorted({int(str(one)) for one in said})


def _toolkit_of(said: Any, source: str, matrix: Matrix, today: str) -> ToolkitRow:
    """Release and its own driver; the floor is that of the other releases of its major, if it is one for all.

    Source of the rule: NVIDIA, "CUDA Compatibility", minor version compatibility.
    """
    named = re.fullmatch(_MANIFEST, source.rpartition("/")[2])
    release = str(said.get("release_label") or (named[1] if named else ""))
    if named and release != named[1]:
        raise Unreachable(f"{source}: its version is {release[:20]!r}, but its name has {named[1]}")
    cuda = CudaVersion.parse(release)
    driver = said.get("nvidia_driver", {}).get("version")
    same = [row for row in matrix.rows("cuda", "toolkits") if row.cuda.major == cuda.major]
    linux, windows = {row.driver_floor_linux for row in same}, {row.driver_floor_windows for row in same}
    note = (
        f"the floor is that of the {cuda.major}.x family"
        if same
        else "no version of its major is known, so its floor is unknown"
    )
    return ToolkitRow(
        id=f"cuda-{release}",
        release=release,
        cuda=cuda,
        driver_floor_linux=linux.pop() if len(linux) == 1 else None,
        driver_floor_windows=windows.pop() if len(windows) == 1 else None,
        toolkit_driver_linux=DriverRelease.parse(driver) if driver else None,
        toolkit_driver_windows=None,
        source=source,
        read_on=today,
        confidence="medium",
        note=note,
    )
