"""The builds among which the solver chooses: which come into question for a package, in which order, and why not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from compat.abi import PYTHON, abi_limits, distribution_limits
from compat.base.record import NamedTuple
from compat.build import (
    gpu_packages,
    gpu_plugins,
    host_of,
    is_cuda_row,
    is_pre_release,
    kind_without_cuda,
    oldest_cuda,
    release_key,
    required_frameworks,
    uses_opencl,
)
from compat.fit import Fit, fit
from compat.load import is_framework
from compat.matrix import Matrix, Uncovered, accepts
from compat.overlap import NO, overlap
from compat.platform import extras_asked, extras_of, fits_extras, known_pythons
from compat.reason import BAD, UNKNOWN, YES, Reason, extra_reasons, row_name
from compat.row import FrameworkRow
from compat.spec import Spec
from compat.specifier import first_release
from compat.target import TargetMachine
from compat.version import CudaVersion

_ENDLESS = 10**9
_OF_CUDA = ("nvidia-", "cuda-toolkit", "tensorrt")  # how distributions of CUDA's libraries are named
Key = tuple[tuple[int, ...], int]


INSTALLED = "installed"  # id of what is there and of no row


class SolveCandidate(NamedTuple):
    """One build of one release that may be chosen."""

    asked: str  # the name under which it was asked for: "jax" for a jax-cuda12-plugin
    fit: Fit
    versions: str  # PEP 440 specifier: the row's, narrowed to what was asked for
    key: Key  # newer is larger
    wants: dict[str, str]  # distribution -> PEP 440 specifier: itself, and what it requires as far as the row says
    held: bool = False  # installed already, and to stay as it is
    extra: str = ""  # the one that was asked for and leaves CUDA to the system, "cuda12-local" of jax
    beside: frozenset[str] = frozenset()  # packages that bring CUDA and must come along

    @property
    def row(self) -> FrameworkRow:
        """The row it stands for."""
        return self.fit.row

    @property
    def release(self) -> str:
        """The release or range of releases, "2.10.0", ">=3,<4"."""
        return self.versions.removeprefix("==")

    @property
    def label(self) -> str:
        """How an answer names it: "torch 2.10.0 (cu128)"."""
        release = f" {self.release}" if self.release else ""
        return f"{self.row.package}{release}" + (f" ({self.row.build})" if self.row.build else "")

    @property
    def name(self) -> str:
        """Its row: "torch.builds[torch-2.10.0-cu128]"."""
        return "" if self.row.id == INSTALLED else row_name(self.row.package, "builds", self.row)

    def requires(self, package: str) -> bool:
        """Whether another package must come along."""
        return package in (self.row.pins or ()) or package in self.beside

    @property
    def verdict(self) -> str:
        """ "yes", "no" or "unknown", apart from all others."""
        return self.fit.verdict


def solvable(matrix: Matrix, package: str) -> bool:
    """Whether the matrix has builds of this package, or of what it is sold as."""
    return any(_has_builds(matrix, name) for name in _sold_as(package))


def _sold_as(package: str) -> tuple[str, ...]:
    """The distributions that bring its GPU code, best first; who names a CPU package means it."""
    return (package,) if package.endswith("-cpu") else gpu_packages(package)


def _has_builds(matrix: Matrix, product: str) -> bool:
    return is_framework(product) and matrix.has(product)


@lru_cache(maxsize=256)
def candidates(asked: Spec, circumstances: TargetMachine, matrix: Matrix) -> tuple[SolveCandidate, ...]:
    """Every build of what was asked for on this platform, newest first, each judged; raises Uncovered.

    Newest is the newest release, then the newest CUDA that the driver is of, then what runs on it by minor-version
    compatibility alone. Kept: who looks for a change asks for the same ones again.
    """
    judged = [
        _judged(one, circumstances, matrix)
        for one in _builds(asked, circumstances.os_family, circumstances.arch, circumstances.as_written, matrix)
    ]
    newest_cuda = _cuda_of_driver(circumstances, matrix)
    if newest_cuda is None:
        return tuple(judged)
    later = {id(one) for one in judged if one.verdict != NO and _is_newer(one.row, newest_cuda, matrix)}
    return tuple(sorted(judged, key=lambda one: (one.key, id(one) not in later), reverse=True))


def _judged(one: SolveCandidate, circumstances: TargetMachine, matrix: Matrix) -> SolveCandidate:
    """Judge a build; if no wheel is recorded for any Python, the one that was named stays unknown."""
    reasons = (*fit(one.row, circumstances, matrix).reasons, *one.fit.reasons)
    is_open = one.row.python is None and bool(circumstances.python)
    row = one.row if is_open else _on_its_pythons(one.row, one.versions, matrix)
    return one._replace(fit=Fit(row, reasons))


def _cuda_of_driver(circumstances: TargetMachine, matrix: Matrix) -> CudaVersion | None:
    """The CUDA that the driver reports; None where it is not known or not asked for."""
    if circumstances.driver is None:
        return None
    try:
        return matrix.branch(circumstances.driver, circumstances.driver_family).cuda_max
    except Uncovered:
        return None


def _is_newer(row: FrameworkRow, newest_cuda: CudaVersion, matrix: Matrix) -> bool:
    """Whether a build is of a newer CUDA than the driver, or it is not recorded what it brings.

    Minor-version compatibility does not hold for PTX that is compiled on the way. Source: CUDA Compatibility.
    """
    if not row.cuda:
        return False
    try:
        return row.libraries is None or oldest_cuda(row, matrix) > newest_cuda
    except Uncovered:
        return True


@lru_cache(maxsize=256)
def _builds(asked: Spec, os_family: str, arch: str, as_written: bool, matrix: Matrix) -> tuple[SolveCandidate, ...]:
    """Those builds in that order, with only the reasons that no circumstances change."""
    found = [
        _build(asked, row if not as_written else _without_extras(asked, row, matrix), matrix, with_gpu_code)
        for package, with_gpu_code in _packages(asked, matrix)
        for row in _asked_for(asked, package, matrix)
        if os_family in row.os and arch in row.arch
    ]
    by_cuda = sorted(found, key=lambda one: release_key(one.row.cuda or ""), reverse=True)
    return tuple(sorted(by_cuda, key=lambda one: one.key, reverse=True))


def _packages(asked: Spec, matrix: Matrix) -> list[tuple[str, bool]]:
    """The distributions it may come in, and whether any build of them carries GPU code."""
    names = [name for name in _sold_as(asked.name) if _has_builds(matrix, name)]
    wanted = {row.asks for row in extras_asked(asked, matrix)} & set(names)
    if not names:
        raise Uncovered(f"the builds of {asked.name}")
    own = _asked_for(asked, asked.name, matrix) if _has_builds(matrix, asked.name) else ()
    if asked.name not in names and any(one.libraries != "system" for one in own if is_cuda_row(one)):
        names.append(asked.name)  # a jaxlib of before the plugins
    with_code = any(is_cuda_row(row) for name in names for row in matrix.rows(name, "builds"))
    return [(name, with_code) for name in names if not wanted or name in wanted]


def _asked_for(asked: Spec, package: str, matrix: Matrix) -> list[FrameworkRow]:
    rows: tuple[FrameworkRow, ...] = matrix.rows(package, "builds")
    if package not in _sold_as(asked.name):  # itself, of before it was sold as others
        rows = tuple(filter(is_cuda_row, rows))
    return [row for row in rows if _is_asked_for(asked, row) and fits_extras(asked, row, matrix)]


def _is_asked_for(asked: Spec, row: FrameworkRow) -> bool:
    if asked.build and row.build != asked.build:
        return False
    return overlap((asked.versions, row.versions)) != NO


def candidate_of(asked: Spec, row: FrameworkRow, matrix: Matrix) -> SolveCandidate:
    """Return one build as a candidate for what was asked, whatever speaks against it."""
    return _build(asked, row, matrix, with_gpu_code=False)


def _build(asked: Spec, row: FrameworkRow, matrix: Matrix, with_gpu_code: bool) -> SolveCandidate:
    code = _without_code(row) if with_gpu_code and not host_of(row, matrix) else ()
    against = (*_unpublished(asked, row), *code, *extra_reasons(asked, row, matrix))
    versions = _narrowed(asked.versions, row.versions)
    rows = [one for one in extras_asked(asked, matrix) if one.asks == row.package]
    extra = rows[0].extra if rows and row.libraries == "wheels" and not any(one.brings for one in rows) else ""
    row = _on_the_system(row) if extra else row
    return SolveCandidate(
        asked.name,
        Fit(row, against),
        versions,
        key=newest(versions),
        wants=_wants(asked.name, row, versions, matrix),
        extra=extra,
        beside=frozenset(required_frameworks(row, matrix)),
    )


def _on_its_pythons(row: FrameworkRow, versions: str, matrix: Matrix) -> FrameworkRow:
    """The build without the Pythons that its wheel is for and on which it does not work all the same."""
    limits = [one.specifier for one in abi_limits(row, versions, matrix) if one.on == PYTHON]
    if not limits:
        return row
    left = row.python or known_pythons(matrix)
    return row._replace(python=tuple(one for one in left if all(accepts(each, one.rstrip("t")) for each in limits)))


def _without_extras(asked: Spec, row: FrameworkRow, matrix: Matrix) -> FrameworkRow:
    """The build as it comes where none of the extras is asked for that bring its libraries."""
    if asked.extras or row.package != asked.name or row.libraries != "wheels":
        return row
    return _on_the_system(row) if extras_of(row.package, first_release(row.versions), matrix) else row


def _on_the_system(row: FrameworkRow) -> FrameworkRow:
    """The build as it is installed without its libraries."""
    pins = {name: one for name, one in (row.pins or {}).items() if not name.startswith(_OF_CUDA)}
    return row._replace(libraries="system", pins=pins)


def _wants(asked: str, row: FrameworkRow, versions: str, matrix: Matrix) -> dict[str, str]:
    """Of it and of what it was asked for as; one object for one build of these versions, whatever else was asked."""
    said = row.pins or {}
    limits = distribution_limits(row, versions, matrix)
    own = {
        **wants_of(row, versions),
        **{name: f"{said.get(name, '')},{limit}".strip(",") for name, limit in limits.items()},
    }
    wants = {**_asked_along(asked, row, matrix), **own}
    return _one_object(tuple(wants.items()), row.package, row.id, matrix)


@lru_cache(maxsize=4096)
def _one_object(items: tuple[tuple[str, str], ...], *_: object) -> dict[str, str]:
    return dict(items)


def wants_of(row: FrameworkRow, versions: str) -> dict[str, str]:
    """What a build of these versions asks for of every distribution, itself among them."""
    return {**(row.pins or {}), row.package: versions}


def _asked_along(name: str, row: FrameworkRow, matrix: Matrix) -> dict[str, str]:
    """What the package requires that an installer is asked for, jax, where the build is one of its plugin's."""
    if row.package == name or not _has_builds(matrix, name):
        return {}
    own: tuple[FrameworkRow, ...] = matrix.rows(name, "builds")
    pins = next((one.pins for one in own if one.versions == row.versions and one.pins), {})
    return {**pins, name: row.versions} if row.package in gpu_plugins(name) else dict(pins)


@lru_cache(maxsize=256)
def newer_elsewhere(asked: Spec, os_family: str, arch: str, matrix: Matrix) -> str:
    """The newest release of which only other platforms have a GPU build in the rows, "" where this one has it too."""
    every = (row for name, _ in _packages(asked, matrix) for row in matrix.rows(name, "builds"))
    rows: list[FrameworkRow] = [row for row in every if _is_asked_for(asked, row) and not _unpublished(asked, row)]
    own = [row for row in rows if os_family in row.os and arch in row.arch]
    here = [newest(row.versions) for row in own if row.versions.startswith("==")]
    there = max((row for row in rows if is_cuda_row(row)), key=lambda row: newest(row.versions), default=None)
    if there is None or not here or newest(there.versions) <= max(here):
        return ""
    if any(is_cuda_row(row) and overlap((there.versions, row.versions)) != NO for row in own):
        return ""
    return there.versions.removeprefix("==")


def _narrowed(asked: str, row: str) -> str:
    """Return what the row speaks of and was asked for."""
    exact = [one for one in (row, asked) if re.fullmatch(r"==[^,*]+", one)]
    return exact[0] if exact else ",".join(dict.fromkeys(clause for one in (row, asked) for clause in _clauses(one)))


def _clauses(specifier: str) -> list[str]:
    return [clause.strip() for clause in specifier.split(",") if clause.strip()]


def _unpublished(asked: Spec, row: FrameworkRow) -> tuple[Reason, ...]:
    """Pre-releases, unless one was asked for, and what was only announced."""
    name = (row_name(row.package, "builds", row),)
    if row.confidence == "low":
        what = f"is not certain to exist{': ' if row.note else ''}{row.note}"
        return (Reason(BAD, what, name, row.source, is_expected=True),)
    if is_pre_release(row.versions) and not is_pre_release(asked.versions):
        return (Reason(BAD, "is a pre-release", name, row.source, is_expected=True),)
    return ()


def _without_code(row: FrameworkRow) -> tuple[Reason, ...]:
    """A CPU or ROCm build of a package that also comes with GPU code."""
    if is_cuda_row(row) or uses_opencl(row) or row.cuda is None:
        return ()
    return (Reason(BAD, kind_without_cuda(row), (row_name(row.package, "builds", row),), row.source, is_expected=True),)


@lru_cache(maxsize=4096)
def newest(specifier: str) -> Key:
    """An order of releases, by the newest release that a specifier admits; a post-release follows its release."""
    bounds = [_upper(clause.strip()) for clause in specifier.split(",")]
    return min((bound for bound in bounds if bound is not None), default=((_ENDLESS,), 0))


def _upper(clause: str) -> Key | None:
    """What a clause leaves as the largest; None where it sets no upper end."""
    numbers = release_key(clause)
    if clause.startswith("==") and clause.endswith(".*"):
        return (*_all_numbers(clause), _ENDLESS), 0
    if clause.startswith(("==", "<=")):
        return numbers, _stage(clause)
    if clause.startswith("~="):
        return (*_all_numbers(clause)[:-1], _ENDLESS), 0
    if clause.startswith("<"):
        return (*numbers[:-1], numbers[-1] - 1, _ENDLESS) if numbers else (), 0
    return None


def _all_numbers(clause: str) -> tuple[int, ...]:
    found = re.search(r"\d+(?:\.\d+)*", clause)
    return tuple(map(int, found[0].split("."))) if found else ()


def _stage(clause: str) -> int:
    """Below 0 for a pre-release, above 0 for a post-release."""
    post = re.search(r"post(\d+)", clause)
    return int(post[1]) + 1 if post else -1 if is_pre_release(clause) else 0


def pool(found: tuple[SolveCandidate, ...], *, sure: bool, own: bool) -> tuple[SolveCandidate, ...]:
    """What may be chosen, newest first.

    `sure` leaves out what is not known to work; `own` leaves out what takes CUDA from the system, where there is
    another that is known to bring its own: what is in the system, and which of it a process finds first, no
    environment can promise.
    """
    verdicts = (YES,) if sure else (YES, UNKNOWN)
    usable = tuple(one for one in found if one.verdict in verdicts)
    bringing = tuple(one for one in usable if one.row.libraries != "system") if own else ()
    return bringing if brings_own(bringing) else usable


def brings_own(builds: Iterable[SolveCandidate]) -> bool:
    """Whether one of them is known not to take CUDA from the system."""
    return any(one.row.libraries not in {None, "system"} for one in builds)
