"""What one row says of a build: does it carry GPU code, for which cards, with which CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from compat.load import is_framework
from compat.matrix import Matrix, Uncovered, accepts, known
from compat.row import FrameworkRow, TargetsRow
from compat.traits import traits_of
from compat.version import CodeTarget, ComputeCapability, CudaVersion

if TYPE_CHECKING:
    from compat.spec import Spec  # only a question asks for it


def is_cuda_row(row: FrameworkRow) -> bool:
    """Whether a row is known to be of a build with GPU code for NVIDIA cards."""
    return bool(row.cuda) and row.build != "cpu"


def uses_opencl(row: FrameworkRow) -> bool:
    """Whether a build computes on the GPU by the OpenCL of its driver, without CUDA: LightGBM's wheels."""
    return row.build == "opencl"


def kind_without_cuda(row: FrameworkRow) -> str:
    """Say what a build without GPU code for NVIDIA cards is."""
    return "is built for AMD GPUs" if row.build.startswith("rocm") else "is a CPU build: it uses no NVIDIA GPU"


def is_default_build(row: FrameworkRow) -> bool:
    """Return whether the package index serves this build under the release's plain version, on this row's platform.

    The source names the wheel that was read there. A wheel of which only the name was read tells platform and Pythons,
    not the build. A row of the CPU builds of many releases names a wheel of each.
    """
    stem = f"{row.package.replace('-', '_')}-"
    named = (one for one in row.source.split("; ") if one.startswith(stem) and not one.endswith("(file names)"))
    releases = [one.removeprefix(stem).partition("-")[0] for one in named]
    if row.versions.removeprefix("==") in releases:
        return True
    return row.build == "cpu" and any("+" not in one and covers(row, one) for one in releases)


def default_build(package: str, version: str, os_family: str, arch: str, matrix: Matrix) -> FrameworkRow | None:
    """Return the build that the package index serves for a release on a platform; None if no row says which one.

    It differs by platform: torch 2.8.0 has CUDA on x86_64 Linux, and none on Windows and on ARM.
    """
    rows = matrix.framework_rows(package, version.partition("+")[0])
    here = [row for row in rows if os_family in row.os and arch in row.arch]
    served = [row for row in here if is_default_build(row)] or here
    return served[0] if len(served) == 1 else None


def is_served_by_default(spec: Spec, os_family: str, arch: str, matrix: Matrix) -> bool:
    """Return whether the package index itself serves this build of an exact release, so that none need be named."""
    release = re.fullmatch(r"==([\w.]+)", spec.versions)
    row = default_build(spec.name, release[1], os_family, arch, matrix) if release and spec.build else None
    return row is not None and row.build == spec.build and is_default_build(row)


def cpu_in_place_of(row: FrameworkRow, version: str, os_family: str, arch: str, matrix: Matrix) -> FrameworkRow | None:
    """Return the CPU build that pip installs in place of this CUDA build without an index; None if there is none."""
    default = default_build(row.package, version, os_family, arch, matrix) if is_cuda_row(row) else None
    return default if default and default.build == "cpu" else None


def accepted_cudas(row: FrameworkRow, matrix: Matrix) -> tuple[CudaVersion, ...]:
    """Every CUDA version that a build accepts, oldest first, at least one; raises Uncovered."""
    return _cudas(known(row, "cuda"), matrix)


@lru_cache(maxsize=1024)
def _cudas(specifier: str, matrix: Matrix) -> tuple[CudaVersion, ...]:
    if re.fullmatch(r"==\d+\.\d+", specifier):  # most rows: no need to look at every toolkit
        return (matrix.toolkit(CudaVersion.parse(specifier[2:])).cuda,)
    found = matrix.cudas_within(specifier)
    if not found:
        raise Uncovered(f"a toolkit for CUDA {specifier}")
    return found


def brings_libraries(row: FrameworkRow, matrix: Matrix) -> bool:
    """Whether CUDA and cuDNN come with a build, in its wheel or in others that it requires.

    Where a row does not say, the package's other builds for that processor do: no torch was ever published for a PC
    that takes them from the system.
    """
    if row.libraries is not None:
        return row.libraries in {"bundled", "wheels"}
    sources = library_sources(row.package, row.arch, matrix)
    return bool(sources) and "system" not in sources


def library_sources(package: str, arches: Iterable[str], matrix: Matrix) -> set[str]:
    """Where a package's builds for these processors have CUDA from: "bundled", "wheels", "system"."""
    alike = (one for one in matrix.rows(package, "builds") if set(one.arch).intersection(arches))
    return {one.libraries for one in alike if one.libraries}


def oldest_cuda(row: FrameworkRow, matrix: Matrix) -> CudaVersion:
    """The oldest CUDA version that a build accepts; raises Uncovered."""
    return accepted_cudas(row, matrix)[0]


@lru_cache(maxsize=4096)
def compilers_for(
    gpu: ComputeCapability, cudas: tuple[CudaVersion, ...], matrix: Matrix
) -> tuple[tuple[CudaVersion, ...], tuple[TargetsRow, ...]]:
    """Those of these CUDA versions whose compiler builds for a card, oldest first, and every row that was looked at."""
    targets: tuple[TargetsRow, ...] = matrix.rows("cuda", "targets")
    rows = tuple(row for row in targets if row.cuda in cudas)
    return tuple(sorted(row.cuda for row in rows if row.capability_min <= gpu <= row.capability_max)), rows


def serves(targets: tuple[CodeTarget, ...], gpu: ComputeCapability, *, jetson: bool = False) -> bool:
    """Whether some of the code runs on this GPU.

    Machine code of a lower minor version does not run on a Jetson: "Binary compatibility is supported only for the
    desktop" (CUDA C++ Programming Guide, "Binary Compatibility").
    """
    return any(
        target.runs_on(gpu) and not (jetson and target.kind == "sm" and target.capability != gpu) for target in targets
    )


def covers(row: FrameworkRow, version: str) -> bool:
    """Whether a row speaks of this release, its local part aside: a row may be of one ("==2.9.1") or of many."""
    public, specifier = version.partition("+")[0], row.versions
    if specifier.startswith("==") and specifier.endswith(".*"):
        return f"{public}.".startswith(specifier[2:-1])
    if specifier.startswith("=="):
        return release_key(specifier) == release_key(public) and _post(specifier) == _post(public)
    return accepts(specifier, public)


def has_python(row: FrameworkRow, python: str) -> bool:
    """Whether a build has a wheel for a Python, "3.12"; yes if either is unknown or the wheel names none."""
    return not python or not row.python or python in row.python


def _post(version: str) -> str:
    """The post-release in a version or specifier: a release of its own, with builds of its own; "" for none."""
    return version.partition(".post")[2]


@lru_cache(maxsize=4096)
def release_key(version: str) -> tuple[int, ...]:
    """The first dotted number in a version or specifier, for ordering: "==2.9.1" and "2.9.1+cu128" are (2, 9, 1)."""
    match = re.search(r"\d{1,9}(?:\.\d{1,9})*", version)
    parts = [int(part) for part in match[0].split(".")] if match else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def whole_release(spec: Spec, matrix: Matrix) -> Spec:
    """Return a spec with `==10.12.*` for `==10.12` if no release has that very number and some begin with it."""
    wanted = spec.versions.removeprefix("==")
    if not re.fullmatch(r"==\d+(\.\d+)*", spec.versions):
        return spec
    names = dict.fromkeys((spec.name, *gpu_packages(spec.name)))
    rows = [row for name in names if matrix.has(name) and is_framework(name) for row in matrix.rows(name, "builds")]
    if any(covers(row, wanted) for row in rows) or not any(row.versions.startswith(f"=={wanted}.") for row in rows):
        return spec
    return spec._replace(versions=f"=={wanted}.*")


def gpu_packages(package: str) -> tuple[str, ...]:
    """The distributions, best first, in which a framework comes with GPU code; one of them stands for itself."""
    traits = traits_of(package)
    return traits.gpu if traits.gpu and (package == traits.id or package not in traits.gpu) else (package,)


def _builds_with_gpu_code(package: str, matrix: Matrix) -> list[FrameworkRow]:
    """Return the builds with GPU code of a package and of its plugins."""
    names = (name for name in gpu_packages(package) if matrix.has(name))
    return [row for name in names for row in matrix.rows(name, "builds") if is_cuda_row(row)]


@lru_cache(maxsize=4096)
def _first_with_gpu_code(packages: tuple[str, ...], matrix: Matrix) -> str:
    """Return the first package that brings CUDA, else the first that takes it from the system; "" for none.

    A package that runs on another of them is not counted: bitsandbytes beside torch.
    """
    found = {name: _builds_with_gpu_code(name, matrix) for name in packages if traits_of(name).runs_on not in packages}
    bringing = (name for name, rows in found.items() if any(row.libraries in {"wheels", "bundled"} for row in rows))
    return next(bringing, next((name for name, rows in found.items() if rows), ""))


def host_of(row: FrameworkRow, matrix: Matrix) -> str:
    """Return the package whose GPU code a build without its own runs: torch for transformers; "" for none."""
    if row.cuda != "" or row.build == "cpu":
        return ""
    needed = tuple(name for name in row.pins or () if row.package not in traits_of(name).cpu_for)
    return traits_of(row.package).runs_on or _first_with_gpu_code(needed, matrix)


def is_pre_release(specifier: str) -> bool:
    """Return whether a specifier names a pre-release, which nobody takes who does not name one (PEP 440)."""
    return re.search(r"\d(a|b|rc|\.dev)\d", specifier) is not None


def required_frameworks(row: FrameworkRow, matrix: Matrix) -> dict[str, str]:
    """Return the packages that must stand beside a build and bring CUDA, so that their build matters, with their pins.

    Not jax for TensorFlow 2.12: its GPU code comes in distributions that only an extra of it asks for.
    """
    pins, host = row.pins or {}, host_of(row, matrix)
    host = host or ("" if compiles_alone(row.package) or row.build == "cpu" else traits_of(row.package).runs_on)
    beside = host if matrix.has(host) and is_framework(host) else ""
    names = (name for name in pins if name == host or _brings_cuda(name, matrix) or _compares_cuda(name, pins, matrix))
    return {name: pins.get(name, "") for name in (*names, *filter(None, (beside,))) if name != row.package}


def backend_needed(row: FrameworkRow, asked: Iterable[str]) -> str:
    """Return the default backend of a package that runs on one of several; "" where it names or is given one."""
    backends = traits_of(row.package).backends
    named = {traits_of(name).id for name in (*asked, *(row.pins or ()))}
    return backends[0] if backends and named.isdisjoint(backends) else ""


def _compares_cuda(name: str, pins: Mapping[str, str], matrix: Matrix) -> bool:
    """Whether it refuses another CUDA minor than its own, so that the newest need not do: torchaudio."""
    return traits_of(name).same_minor and matrix.has(name) and not pins[name].startswith("==")


@lru_cache(maxsize=1024)
def _brings_cuda(name: str, matrix: Matrix) -> bool:
    if name not in gpu_packages(name) or not (is_framework(name) and matrix.has(name)) or compiles_alone(name):
        return False
    return any(is_cuda_row(row) and row.libraries in {"wheels", "bundled"} for row in matrix.rows(name, "builds"))


def compiles_alone(package: str) -> bool:
    """Whether it compiles with tools that it carries, and what they make runs on the driver: no CUDA is loaded."""
    traits = traits_of(package)
    return traits.own_tools and bool(traits.runs_on)


def is_rider(package: str, matrix: Matrix) -> bool:
    """Return whether a package has no GPU code of its own, or goes with the release of another: transformers."""
    rows: tuple[FrameworkRow, ...] = matrix.rows(package, "builds") if matrix.has(package) else ()
    return bool(follows(package)) or (bool(rows) and all(row.cuda == "" and row.build != "cpu" for row in rows))


def follows(package: str) -> str:
    """Return the framework whose builds and index a package follows: torch for torchvision; "" for none."""
    base = traits_of(package).runs_on
    return base if base and package in traits_of(base).followers else ""


def cudas_followed(row: FrameworkRow, matrix: Matrix) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the CUDAs for which a follower that compares minors is built: on the package index, and at all.

    Those of the release of its own number of what it follows. None for any other package, and where that is unknown.
    """
    base = follows(row.package) if traits_of(row.package).same_minor and row.versions.startswith("==") else ""
    return _cudas_of(base, row.versions[2:], row.os, row.arch, matrix) if base else None


@lru_cache(maxsize=256)
def _cudas_of(
    package: str, release: str, os: tuple[str, ...], arch: tuple[str, ...], matrix: Matrix
) -> tuple[frozenset[str], frozenset[str]] | None:
    rows = [
        one for one in matrix.framework_rows(package, release) if set(one.os) & set(os) and set(one.arch) & set(arch)
    ]
    usual = frozenset(one.cuda for one in rows if one.cuda and is_default_build(one))
    every = frozenset(one.cuda for one in rows if one.cuda)
    return (usual, every) if every else None


def gpu_plugins(package: str) -> tuple[str, ...]:
    """The distributions that add GPU code to one that has none of its own: those of jaxlib."""
    return tuple(name for name in gpu_packages(package) if name.endswith("-plugin"))


def name_of(row: FrameworkRow) -> str:
    """How a remedy names a build: "torch 2.7.1 (cu128)"."""
    release = row.versions.removeprefix("==")
    return f"{row.package} {release}" + (f" ({row.build})" if row.build else "")
