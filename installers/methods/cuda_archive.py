"""A CUDA toolkit from NVIDIA's archives of its components, copied together in one directory.

Sources: NVIDIA's redistributable manifests (names, versions, digests, sizes) and its archives, whose top directory has
bin, include, lib, nvvm and LICENSE; in an installed toolkit the libraries of Linux are in lib64, where nvcc.profile
and the tools that look for CUDA expect them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compat.matrix import Matrix
from compat.need import InstallToolkit
from installers import cuda_order
from installers.cuda_order import CudaOrder, NoSuchToolkit, age, home_of, is_of_root, newest
from installers.effect import ToolkitInstalled
from installers.method import COMPONENTS, PREFIX, Method, Name
from installers.own_directory import findable
from installers.plan import Plan, Target
from installers.requirement import exact_version
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.check import Check
from installers.steps.copy_tree import CopyTree
from installers.steps.download import Download
from installers.steps.extract import Extract
from installers.steps.refresh_loader import RefreshLoader
from installers.steps.write_file import WriteFile

if TYPE_CHECKING:
    from compat.artefact import ComponentRow

_UNPACKED = "unpacked"
_RUNTIME = "cuda_cudart"  # brings cuda.h, by which a toolkit tells its version
_WHAT = "a set of archives"


def serves(need: InstallToolkit, target: Target) -> bool:
    """A directory that no package and no installer fills, and a release that is named."""
    return need.directory != "" and not is_of_root(need.directory, target) and _names(need)


def _names(need: InstallToolkit) -> bool:
    return exact_version(need.versions) != "" or need.versions.endswith(".*")


def plan(need: InstallToolkit, target: Target, matrix: Matrix) -> Plan:
    """The whole toolkit of the newest release that the need names."""
    return archive_plan(cuda_order.order_of(need), target, matrix)


def archive_plan(order: CudaOrder, target: Target, matrix: Matrix) -> Plan:
    """Every step from NVIDIA's archives to a toolkit; raises NoSuchToolkit."""
    if order.archive:
        raise NoSuchToolkit("a toolkit has many archives: omit --archive, gpudoctor downloads them")
    arch = {"x86_64": "x86_64", "sbsa": "sbsa"}.get(target.arch, "")
    if not arch or (target.os_family, arch) == ("windows", "sbsa"):
        raise NoSuchToolkit(f"no CUDA archives are known for {target.os_family} {target.arch}")
    platform = f"{target.os_family}-{arch}"
    known = (row for row in matrix.rows("redist-component", "components") if platform in row.sha256)
    rows = _chosen(newest(known, order.version, _WHAT, _how_to_bring(order.version, matrix)), order)
    release = rows[0].release
    home = home_of(order, release, target)
    steps = [step for row in rows for step in _component(row, platform, home, target, matrix)]
    whole = not order.components
    steps += [_version_file(rows, release, home, target)] if whole else []
    summary = f"install {'CUDA' if whole else _spoken(rows) + ' of CUDA'} {release} in {home}"
    found = ToolkitInstalled(f"=={release}", home, searched=is_of_root(home, target))
    steps += (*_afterwards(order, home, target), *_check(rows, release, home, whole=whole))
    return Plan(summary, tuple(steps), (found,) if whole else ())


def _how_to_bring(version: str, matrix: Matrix) -> str:
    """What to do about a release that exists, but of whose archives there are no rows; "" for one that is unknown."""
    releases = {row.release for row in matrix.rows("cuda", "toolkits")}
    named = [one for one in releases if f"{one}.".startswith(f"{version}.")] if version else []
    if not named:
        return ""
    release = max(named, key=age)
    urls = [row.url for row in matrix.rows("redist", "manifests") if (row.product, row.release) == ("cuda", release)]
    file = f"redistrib_{release}.json"
    where = f" ({urls[0]})" if urls else ""
    return f"NVIDIA lists its archives in {file}{where}; to use it: gpudoctor matrix refresh --manifests {file}"


def _chosen(rows: tuple[ComponentRow, ...], order: CudaOrder) -> tuple[ComponentRow, ...]:
    """Those that are asked for, under NVIDIA's name or without its "cuda_" or "lib"."""
    if not order.components:
        return rows
    names = {name: row for row in rows for name in (_short(row), row.component)}
    missing = [one for one in order.components if one not in names]
    if missing:
        known = ", ".join(sorted({_short(row) for row in rows}))
        raise NoSuchToolkit(f"CUDA {rows[0].release} has no component {missing[0]!r}; known are {known}")
    wanted = {names[one].component for one in order.components}
    return tuple(row for row in rows if row.component in wanted)


def _short(row: ComponentRow) -> str:
    return row.component.removeprefix("cuda_").removeprefix("lib")


def _spoken(rows: tuple[ComponentRow, ...]) -> str:
    return ", ".join(map(_short, rows))


def _component(row: ComponentRow, platform: str, home: str, target: Target, matrix: Matrix) -> tuple[Step, ...]:
    windows = target.os_family == "windows"
    stem = f"{row.component}-{platform}-{row.version}-archive"
    name = f"{stem}.{'zip' if windows else 'tar.xz'}"
    url = f"{_folder(row.release, matrix)}/{row.component}/{platform}/{name}"
    title = f"{row.title} {row.version}"
    licence = (f"{stem}/LICENSE", f"{stem}/share/licenses/{row.component}.txt")  # each archive has one of that name
    renames = (licence,) if windows else ((f"{stem}/lib", f"{stem}/lib64"), licence)
    root, major = is_of_root(home, target), int(row.release.partition(".")[0])
    return (
        Download(
            url=url,
            to=name,
            sha256=(row.sha256[platform],),
            size_bytes=row.size_bytes[platform],
            digest_from="manifest",
            why=title,
        ),
        Extract(name, _UNPACKED, "toolkits have their libraries in lib64" if not windows else title, renames),
        CopyTree(
            source=f"{_UNPACKED}/{stem}",
            into=home,
            patterns=("**",),
            why=title,
            needs_root=root,
            cuda_major=major,
            is_new=True,
        ),
    )


def _folder(release: str, matrix: Matrix) -> str:
    """Where NVIDIA keeps the archives: beside the manifest. All of CUDA's are in one folder, also those of no row."""
    urls: dict[str, str] = {one.release: one.url for one in matrix.rows("redist", "manifests") if one.product == "cuda"}
    url = urls.get(release) or next(iter(urls.values()))
    return url.rpartition("/")[0]


def _version_file(rows: tuple[ComponentRow, ...], release: str, home: str, target: Target) -> WriteFile:
    """As NVIDIA's installers write it, and as tools read it: the release, and each component's."""
    told = {"cuda": {"name": "CUDA SDK", "version": release}}
    told.update({row.component: {"name": row.title, "version": row.version} for row in rows})
    separator = "\\" if target.os_family == "windows" else "/"
    lines = tuple(json.dumps(told, indent=3).splitlines())
    why = "tools read the version from it, and the archives lack it"
    return WriteFile(f"{home}{separator}version.json", lines, why, is_of_root(home, target))


def _afterwards(order: CudaOrder, home: str, target: Target) -> tuple[Step, ...]:
    if target.os_family == "windows":
        return findable("cuda", home, f"{home}\\bin", target)
    libraries = f"{home}/lib64"
    if order.own or not is_of_root(home, target):
        return findable("cuda", home, libraries, target)
    if order.home:  # a directory that is in use already
        return (RefreshLoader("the loader then finds the libraries"),)
    link = ByHand(
        f"to make it the default: sudo ln -sfn {home} /usr/local/cuda", "programs without a version look there"
    )
    return (*findable("cuda", home, libraries, target), link)


def _check(rows: tuple[ComponentRow, ...], release: str, home: str, *, whole: bool) -> tuple[Check, ...]:
    if not any(row.component == _RUNTIME for row in rows):
        return ()
    spec = "" if whole else f"=={cuda_order.cuda_of(release)}.*"  # without version.json only cuda.h tells it
    return (cuda_order.check(release, home, spec),)


METHOD = Method(
    InstallToolkit,
    "the CUDA toolkit from archives",
    plan,
    serves,
    rank=35,
    names=(Name("cuda", "archive"),),
    options=frozenset({COMPONENTS, PREFIX}),
    ordered=archive_plan,
)
