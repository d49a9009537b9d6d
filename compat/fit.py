"""Whether one build of a framework works under given circumstances, and each reason why, with its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from compat.base.record import NamedTuple
from compat.build import (
    accepted_cudas,
    brings_libraries,
    compilers_for,
    cpu_in_place_of,
    follows,
    gpu_packages,
    host_of,
    is_cuda_row,
    kind_without_cuda,
    name_of,
    oldest_cuda,
    release_key,
    required_frameworks,
    serves,
    uses_opencl,
)
from compat.load import is_framework
from compat.matrix import Matrix, Uncovered, accepts
from compat.overlap import overlap
from compat.platform import absent, extras_of
from compat.reason import (
    BAD,
    OK,
    UNKNOWN,
    Reason,
    cudnn_reasons,
    driver_drives,
    driver_reasons,
    drives_reasons,
    row_name,
    toolkit_reasons,
    verdict_of,
)
from compat.row import CudnnBuildRow, CudnnWarningRow, FrameworkRow, SupportRow, TargetsRow
from compat.specifier import first_release
from compat.target import TargetMachine
from compat.traits import traits_of
from compat.version import CodeTarget, ComputeCapability, CudaVersion, CudnnVersion

if TYPE_CHECKING:
    from compat.platform_row import ExtraRow  # only a question about the system's libraries asks for these

__all__ = ["TargetMachine", "Fit", "Reason", "driver_drives", "fit", "row_name", "verdict_of"]

T = TypeVar("T")


class Fit(NamedTuple):
    """One build, judged."""

    row: FrameworkRow
    reasons: tuple[Reason, ...]

    @property
    def verdict(self) -> str:
        """The reasons taken together: "no" for one bad one, else "unknown" for one unknown one, else "yes"."""
        return verdict_of(self.reasons)


def fit(row: FrameworkRow, circumstances: TargetMachine, matrix: Matrix, brought: frozenset[str] | None = None) -> Fit:
    """Judge one build: platform, Python, C library, GPU code, driver; only what the circumstances name.

    A row of another platform says nothing of this one but that it exists. `brought` are the libraries that the extras
    bring with which it is installed, "cuda" and "cudnn"; None for all that any of its extras bring.
    """
    judged = _Judged(row, circumstances, matrix, brought)
    if not judged.is_here:
        return Fit(row, (*judged.record(), judged.elsewhere(), *_drives(circumstances, matrix)))
    before, after = _kept(judged.whatever_python, row, _whatever_python(circumstances, matrix, brought))
    return Fit(row, tuple(dict.fromkeys((*before, *judged.python(), *after))))


def cudnns_of(row: FrameworkRow, cuda_major: int, matrix: Matrix) -> tuple[CudnnBuildRow, ...]:
    """The builds of cuDNN that a framework may bring, oldest first: the one it names, else all that it works with.

    Its pin alone may admit more than it was compiled for. Raises Uncovered.
    """
    pin = (row.pins or {}).get(f"nvidia-cudnn-cu{cuda_major}", "")
    if row.cudnn is not None and (not pin or pin.startswith("==")):
        return (matrix.cudnn_build(row.cudnn, cuda_major),)
    accepted = ",".join(filter(None, (pin, row.cudnn_accepts)))
    if not accepted:
        return ()
    return matrix.cudnn_builds_within(accepted, cuda_major)


class _Judged:
    """One build under its circumstances: each method gives the reasons of one kind."""

    def __init__(
        self, row: FrameworkRow, circumstances: TargetMachine, matrix: Matrix, brought: frozenset[str] | None
    ) -> None:
        self._row, self._where, self._matrix, self._brought_along = row, circumstances, matrix, brought
        self.is_here = circumstances.os_family in row.os and circumstances.arch in row.arch

    @property
    def _name(self) -> str:
        return row_name(self._row.package, "builds", self._row)

    def whatever_python(self) -> tuple[Sequence[Reason], Sequence[Reason]]:
        """The reasons that no Python changes: those that come before what is shown of it, and those after."""
        gpu = self.gpu() if self._where.wants_gpu else ()
        return (*self.record(), self.here(), *self.requirements(), *self.index()), (
            *self.glibc(),
            *self.system_libraries(),
            *gpu,
        )

    def _doubted(self, column: str, reason: Reason) -> Reason:
        """A reason from a column: unknown if the column was inferred."""
        if column not in self._row.unsure or reason.kind == UNKNOWN:
            return reason
        return reason._replace(kind=UNKNOWN, what=f"{reason.what} (inferred, not read)", short="")

    def _say(self, kind: str, what: str, *rows: str, source: str = "") -> Reason:
        return Reason(kind, what, (self._name, *rows), source or self._row.source)

    def record(self) -> Iterator[Reason]:
        """Whether the build is more than an announcement."""
        if self._row.confidence == "low":
            yield self._say(UNKNOWN, f"not certain: {self._row.note or 'the row is of low confidence'}")

    def here(self) -> Reason:
        """The platform is one of the row's."""
        return self._say(OK, f"published for {self._where.os_family} {self._where.arch}")._replace(is_expected=True)

    def requirements(self) -> Iterator[Reason]:
        """What it requires and has no build here: a pure wheel is for the platforms of its requirements alone."""
        where = self._where
        pins = self._row.pins if len(self._row.os) > 1 else None  # a wheel of one system was read with what it requires
        needed = required_frameworks(self._row, self._matrix)
        for name, pin in (pins or {}).items():
            if not (pin or name in needed) or not _is_nowhere(name, pin, where.os_family, where.arch, self._matrix):
                continue
            missing = absent(name, pin, where, self._matrix)
            if missing is None:
                what = f"unknown: does {name}{pin}, which it requires, have a build for {where.os_family} {where.arch}?"
                yield self._say(UNKNOWN, what)
            elif where.wants_gpu or not missing.gpu_only:
                what = f"requires {name}{pin}: {missing.summary}"
                yield self._say(BAD, what, row_name("platform", "absent", missing), source=missing.source)

    def hosts(self) -> Iterator[Reason]:
        """What a build without GPU code of its own runs on and has no build that works here: torch for transformers."""
        if is_cuda_row(self._row):
            return
        where = self._where._replace(python="", names_gpu=False)
        for name, pin in required_frameworks(self._row, self._matrix).items():
            against = _against_all(name, pin, where, self._matrix)
            if against:
                what = f"requires {name}{pin}: {against.brief}"
                yield self._say(against.kind, what, *against.rows, source=against.source)

    def index(self) -> Iterator[Reason]:
        """Yield the index that serves the build, if pip installs a CPU build from the package index here."""
        row, where, release = self._row, self._where, first_release(self._row.versions)
        cpu = cpu_in_place_of(row, release, where.os_family, where.arch, self._matrix)
        if cpu is None:
            yield from self._index_of_host()
            return
        alone = f"the package index has only a CPU build for {where.os_family} {where.arch}"
        try:
            index = self._matrix.wheel_index(row.package, row.build, release)
        except Uncovered as error:
            yield self._say(UNKNOWN, f"{alone}: {error}", row_name(row.package, "builds", cpu))
            return
        names = (row_name("index", "wheels", index), row_name(row.package, "builds", cpu))
        yield self._say(OK, f"needs --index-url {index.url}: {alone}", *names, source=f"{index.source}; {cpu.source}")

    def _index_of_host(self) -> Iterator[Reason]:
        """Yield what pip installs of the framework whose CUDA it uses, if that is a CPU build here."""
        row, where, host = self._row, self._where, traits_of(self._row.package).runs_on
        if not (row.cuda and row.pins and host in row.pins):
            return
        here = [
            one for one in self._matrix.rows(host, "builds") if where.os_family in one.os and where.arch in one.arch
        ]
        admitted = [one for one in here if is_cuda_row(one) and accepts(row.pins[host], first_release(one.versions))]
        if not admitted:
            return
        newest = max(admitted, key=lambda one: release_key(one.versions))
        release = first_release(newest.versions)
        cpu = cpu_in_place_of(newest, release, where.os_family, where.arch, self._matrix)
        if cpu:
            what = (
                f"needs a CUDA build of {host}, from the index of {host}: "
                f"{host} {release} of the package index is a CPU build for {where.os_family} {where.arch}"
            )
            yield self._say(OK, what, row_name(host, "builds", cpu), source=cpu.source)

    def elsewhere(self) -> Reason:
        """The platform is none of the row's: that there is no build for it takes a row that says so."""
        row, where = self._row, self._where
        missing = absent(row.package, row.versions, where, self._matrix)
        if missing and (where.wants_gpu or where.names_gpu or not missing.gpu_only):
            name = row_name("platform", "absent", missing)
            return self._say(BAD, missing.summary, name, source=missing.source)
        published = f"{', '.join(row.os)} on {', '.join(row.arch)}"
        return self._say(
            UNKNOWN,
            f"a build for {where.os_family} {where.arch} is unknown; known: {published}",
        )

    def python(self) -> Iterator[Reason]:
        """A wheel for this Python."""
        wanted, published = self._where.python, self._row.python
        if not wanted:
            yield from self._on_no_python()
            return
        if published is None:
            newest = _newest_python(self._row.package, release_key(self._row.versions), self._matrix)
            if newest and release_key(wanted) > newest:
                what = f"this release has no wheel for Python {wanted}, nor has a later one"
                yield self._say(BAD, what)
                return
            yield self._say(UNKNOWN, f"a wheel for Python {wanted} is unknown")
            yield from self._limited("python", wanted.rstrip("t"))
        elif wanted in published or not published:
            yield self._doubted("python", self._say(OK, f"published for Python {wanted}"))
            yield from self._limited("python", wanted.rstrip("t"))
        else:
            what = f"this release has no wheel for Python {wanted}, only for {', '.join(published)}"
            yield self._doubted("python", self._say(BAD, what))

    def _on_no_python(self) -> Iterator[Reason]:
        """A limit that leaves none of the Pythons that it has wheels for."""
        from compat.abi import abi_limits  # late: a plain check asks for none

        published = self._row.python
        limits = [one for one in abi_limits(self._row, self._row.versions, self._matrix) if one.on == "python"]
        if (
            limits
            and published
            and not any(all(accepts(one.specifier, python.rstrip("t")) for one in limits) for python in published)
        ):
            row = limits[0].row
            what = f"{row.effect}, for any of its Pythons"
            yield self._say(BAD, what, row_name("conflicts", "abi", row), source=row.source)

    def glibc(self) -> Iterator[Reason]:
        """The C library that the wheel's manylinux tag asks for (PEP 600)."""
        has, needs = self._where.glibc, self._row.glibc
        if not has or self._where.os_family != "linux" or needs == "":
            return
        if needs is None:
            yield self._say(UNKNOWN, "the glibc that it needs is unknown")
        elif release_key(has) >= release_key(needs):
            yield self._say(OK, f"needs glibc {needs}; {has} is installed")
        else:
            yield self._say(BAD, f"needs glibc {needs} or newer; {has} is installed")
        yield from self._limited("glibc", has)

    def _limited(self, on: str, has: str) -> Iterator[Reason]:
        """A limit on the Python or the glibc that the wheel itself does not show."""
        from compat.abi import abi_limits  # late: a plain check asks for none

        for one in abi_limits(self._row, self._row.versions, self._matrix):
            if one.on == on and not accepts(one.specifier, has):
                spoken = "Python" if on == "python" else on
                what = f"needs {spoken}{one.specifier}; on {spoken} {has} {one.row.effect}"
                yield self._say(BAD, what, row_name("conflicts", "abi", one.row), source=one.row.source)

    def system_libraries(self) -> Iterator[Reason]:
        """The CUDA and cuDNN of the system: what a build needs that brings none of its own."""
        row, where = self._row, self._where
        for name, version, own, accepted in (
            ("CUDA", where.cuda, row.cuda, row.cuda),
            ("cuDNN", where.cudnn, f"=={row.cudnn}" if row.cudnn else row.cudnn_accepts, row.cudnn_accepts),
        ):
            if version is None or accepted == "":
                continue
            missing = self._missing_extra(name.casefold())
            if missing:
                what = f"installs {name} only with the extra {missing.extra}, which was not requested"
                yield self._say(OK, what, row_name("package", "extras", missing), source=missing.source)
                yield self._system_library(name, version, accepted)
            elif self._brings(name):
                yield self._say(
                    OK, f"contains its own {name} {own or ''}".rstrip() + (": the system's copy is not used")
                )
            else:
                yield self._system_library(name, version, accepted)

    def _brings(self, library: str) -> bool:
        """Whether CUDA or cuDNN comes along, by the build itself or by an extra that was asked for."""
        if library.casefold() in (self._brought_along or ()):
            return True
        return brings_libraries(self._row, self._matrix) and not (
            library == "CUDA" and traits_of(self._row.package).nearest != ""
        )

    def _missing_extra(self, library: str) -> ExtraRow | None:
        """The extra that would bring a library, where it was not asked for."""
        if self._brought_along is None or library in self._brought_along or self._row.libraries != "wheels":
            return None
        found = extras_of(self._row.package, self._release(), self._matrix)
        return next((row for row in found if library in row.brings), None)

    def _system_library(self, name: str, version: CudaVersion | CudnnVersion, accepted: str | None) -> Reason:
        if accepted is None:
            return self._say(UNKNOWN, f"the {name} that it needs is unknown")
        fits = accepts(accepted, version)
        warning = self._warning(version) if isinstance(version, CudnnVersion) else None
        if warning:
            what = f"needs {name} {accepted}; with {version} it warns and continues" + ("" if fits else ", untested")
            name = row_name("cudnn", "warnings", warning)
            return self._say(OK if fits else UNKNOWN, what, name, source=warning.source)
        return self._say(OK if fits else BAD, f"needs {name} {accepted}; {version} is installed")

    def _warning(self, version: CudnnVersion) -> CudnnWarningRow | None:
        return self._matrix.only_warns(self._row.package, self._release(), version)

    def gpu(self) -> list[Reason]:
        """Everything about cards and their driver."""
        row = self._row
        cards, cudnn = _kept(self._code, row, _of_cards(self._where.capabilities, self._where.arch, self._matrix))
        reasons = [*self.hosts(), *cudnn, *_drives(self._where, self._matrix)]
        host = host_of(row, self._matrix)
        if host:
            return [self._say(OK, f"uses the CUDA of {host}"), *reasons]
        if row.cuda is None and follows(row.package):
            return [self._say(OK, f"is built with {follows(row.package)}, for the same CUDA and cards"), *reasons]
        if row.cuda is None:
            told = [self._outside(gpu) or self._code_for(gpu) for gpu in self._where.capabilities]
            needs_no_cuda = row.libraries == "bundled" and self._where.driver is None and told and all(told)
            return [*filter(None, told), *(() if needs_no_cuda else self._unrecorded_cuda()), *reasons]
        if uses_opencl(row):
            what = "computes on the GPU with OpenCL, which the driver contains, and not with CUDA"
            return [self._say(OK, what), *reasons]
        if not is_cuda_row(row):
            return [self._say(BAD, kind_without_cuda(row))._replace(is_expected=True)]
        judged = (one or self._ptx(gpu) for gpu, one in zip(self._where.capabilities, cards, strict=True))
        return [*judged, *self._driver(), *reasons]

    def _code(self) -> tuple[list[Reason | None], list[Reason]]:
        """What is shown of each card whatever its driver, None where that compiles PTX; and of cuDNN's code."""
        if not is_cuda_row(self._row):
            return [], []
        cards = [one and self._doubted("targets", one) for one in map(self._card, self._where.capabilities)]
        return cards, [*self._cudnn_code()]

    def _unrecorded_cuda(self) -> Iterator[Reason]:
        """Theano compiles with whatever toolkit is there: then that one decides."""
        if self._where.cuda is None or self._row.libraries != "system":
            yield self._say(UNKNOWN, "the CUDA that it needs is unknown")
            return
        for reason in toolkit_reasons(self._where.cuda, self._where, self._matrix):
            yield reason._replace(rows=(self._name, *reason.rows))

    def _card(self, gpu: ComputeCapability) -> Reason | None:
        older = self._outside(gpu)
        if older:
            return older
        try:
            return self._code_for(gpu) if self._row.targets else self._uncompiled(gpu)
        except Uncovered as error:
            return self._say(UNKNOWN, str(error))

    def _oldest(self) -> SupportRow | None:
        return self._matrix.supports_from(self._row.package, self._release())

    def _outside(self, gpu: ComputeCapability) -> Reason | None:
        """The card is older, or newer, than any that the package is for, whatever it was built with."""
        newest = self._matrix.supports_to(self._row.package, self._release())
        if newest and gpu > newest.capability_max:
            name = row_name("gpu", "newest", newest)
            return self._say(BAD, f"supports cards up to {newest.capability_max.sm}", name, source=newest.source)
        oldest = self._oldest()
        if not oldest or gpu >= oldest.capability_min:
            return None
        name = row_name("gpu", "supported", oldest)
        return self._say(BAD, f"supports cards from {oldest.capability_min.sm} on", name, source=oldest.source)

    def _code_for(self, gpu: ComputeCapability) -> Reason | None:
        """The code in the package, machine code first: PTX needs a driver that knows its CUDA."""
        targets = self._row.targets
        if not targets:
            return None
        jetson = self._where.arch == "jetson"
        if _serves_as(targets, gpu, jetson) == "sm":
            return self._say(OK, f"has code for {gpu.sm}")
        if _serves_as(targets, gpu, jetson) == "compute":
            return None
        short = f"has no code for {gpu.sm}"
        return self._say(BAD, f"{short}, only {_listed(targets)}")._replace(short=short)

    def _ptx(self, gpu: ComputeCapability) -> Reason:
        try:
            return self._compiled_by_driver(gpu)
        except Uncovered as error:
            return self._say(UNKNOWN, str(error))

    def _compiled_by_driver(self, gpu: ComputeCapability) -> Reason:
        """PTX is compiled by the driver, which must be of the CUDA that made it, or newer.

        Source: CUDA Compatibility, "Minor version compatibility": applications with PTX code are excepted from it.
        """
        reported = self._matrix.ptx_reported(self._row.package, self._release(), gpu)
        if reported:
            says = "which does not load there, by reports" if reported.kind == BAD else "on which reports differ"
            what = f"has only PTX for {gpu.sm}, {says}: {reported.error}"
            return self._say(reported.kind, what, row_name("gpu", "ptx", reported), source=reported.source)
        driver, cuda = self._where.driver, oldest_cuda(self._row, self._matrix)
        newest = self._matrix.targets(accepted_cudas(self._row, self._matrix)[-1])
        if newest.capability_max.major < gpu.major:
            what = f"has PTX for {gpu.sm}, but CUDA {newest.cuda}, whose libraries it calls, does not support {gpu.sm}"
            return self._say(
                UNKNOWN, what, row_name("cuda", "targets", newest), source=f"{self._row.source}; {newest.source}"
            )
        if driver is None:
            return self._say(OK, f"has PTX for {gpu.sm}, which the driver compiles at first use")
        branch = self._matrix.branch(driver, self._where.driver_family)
        name, source = row_name("driver", "branches", branch), f"{self._row.source}; {branch.source}"
        if branch.cuda_max is None:
            what = f"has only PTX of CUDA {cuda} for {gpu.sm}; the CUDA that driver {driver} compiles is unknown"
            return self._say(UNKNOWN, what, name, source=source)
        if branch.cuda_max < cuda:
            what = f"has only PTX of CUDA {cuda} for {gpu.sm}; driver {driver} compiles PTX up to {branch.cuda_max}"
            return self._say(BAD, what, name, source=source)
        return self._say(OK, f"has PTX for {gpu.sm}, which driver {driver} compiles at first use", name, source=source)

    def _uncompiled(self, gpu: ComputeCapability) -> Reason:
        """No list of targets: what the compilers of its CUDA can build for bounds the answer."""
        cudas = accepted_cudas(self._row, self._matrix)
        able, rows = compilers_for(gpu, cudas, self._matrix)
        if able:
            return self._compilable(gpu, (cudas, able))
        if rows and all(gpu < row.capability_min for row in rows):
            what = f"CUDA {_span(cudas)} no longer supports {gpu.sm}"
            return self._say(BAD, what, *self._names(rows), source=f"{self._row.source}; {rows[0].source}")
        what = f"its targets are unknown, and CUDA {_span(cudas)} does not support {gpu.sm}"
        sources = dict.fromkeys((self._row.source, *(row.source for row in rows[-1:])))
        return self._say(UNKNOWN, what, *self._names(rows[-1:]), source="; ".join(sources))

    def _compilable(
        self, gpu: ComputeCapability, spans: tuple[tuple[CudaVersion, ...], tuple[CudaVersion, ...]]
    ) -> Reason:
        """By what its maker supports, or because it compiles where it runs; `spans` are its CUDAs, and those able."""
        cudas, able, oldest = *spans, self._oldest()
        compiles = traits_of(self._row.package).compiles
        if self._row.targets is None and not compiles and not oldest:
            return self._say(UNKNOWN, f"its targets are unknown; CUDA {_span(able)} supports {gpu.sm}")
        runs = oldest is not None and oldest.capability_min.major == gpu.major  # code for the oldest runs on the card
        if not compiles and not runs and cudas[0] not in able:  # a later CUDA runs it, but did not build it
            unknown = f"CUDA {cudas[0]}, which it uses first, does not support {gpu.sm}"
            return self._say(UNKNOWN, f"its targets are unknown; {unknown}")
        names = (row_name("gpu", "supported", oldest),) if oldest else ()
        source = oldest.source if oldest else ""
        compiled = f"is compiled for {gpu.sm} at run time"
        if not compiles and oldest:
            compiled = f"supports {gpu.sm}: its oldest is {oldest.capability_min.sm}, and its CUDA supports the card"
        return self._say(
            OK, compiled if able == cudas else f"{compiled}, with CUDA {_span(able)}", *names, source=source
        )

    def _release(self) -> str:
        """The first release that the row speaks of."""
        return first_release(self._row.versions)

    def _names(self, rows: tuple[TargetsRow, ...]) -> tuple[str, ...]:
        return tuple(row_name("cuda", "targets", row) for row in rows)

    def _driver(self) -> Iterator[Reason]:
        if self._where.driver is None:
            return
        try:
            cuda = oldest_cuda(self._row, self._matrix)
        except Uncovered as error:
            yield self._say(UNKNOWN, str(error))
            return
        for reason in _starts(cuda, self._where, self._matrix):
            yield reason._replace(rows=(self._name, *reason.rows))
        yield from self._takes_its_ptx()

    def _takes_its_ptx(self) -> Iterator[Reason]:
        """The driver compiles the PTX that the system's CUDA makes, where that is what the framework hands it."""
        driver, row, releases = self._where.driver, self._row, traits_of(self._row.package).driver_compiles
        if driver is None or row.libraries != "system" or not releases or not accepts(releases, self._release()):
            return
        try:
            branch = self._matrix.branch(driver, self._where.driver_family)
            cuda = self._where.cuda or oldest_cuda(row, self._matrix)
        except Uncovered as error:
            yield self._say(UNKNOWN, str(error))
            return
        if branch.cuda_max is None or branch.cuda_max < cuda:
            kind, knows = (BAD, branch.cuda_max) if branch.cuda_max else (UNKNOWN, "an unknown CUDA")
            what = f"gives the driver PTX of CUDA {cuda}; {driver} compiles PTX up to {knows}"
            name = row_name("driver", "branches", branch)
            yield self._say(kind, what, name, source=f"{traits_of(row.package).source}; {branch.source}")

    def _cudnn_code(self) -> Iterator[Reason]:
        """Whether the cuDNN that it brings has code for the cards: the one it names, else the newest that it takes."""
        row = self._row
        if not row.cuda or not self._where.capabilities or not brings_libraries(row, self._matrix):
            return
        try:
            major = oldest_cuda(row, self._matrix).major
            builds = cudnns_of(row, major, self._matrix)
        except Uncovered:
            return  # the framework's own code has been judged: the table of cuDNN builds need not know this one
        if not builds:
            return
        newest = self._brought(builds[-1])
        if all(reason.kind == OK for reason in newest):
            return
        older = next((one for one in reversed(builds) if all(reason.kind == OK for reason in self._brought(one))), None)
        if older is None:
            yield from (reason for reason in newest if reason.kind != OK)
            return
        name = row_name("cudnn", "builds", older)
        what = f"needs cuDNN {row.cudnn_accepts}; {older.version} is the last with code for these cards: pin it"
        yield self._say(OK, what, name, source=older.source)

    def _brought(self, build: CudnnBuildRow) -> list[Reason]:
        reasons = cudnn_reasons(build, self._where, self._matrix)
        return [one._replace(what=f"contains {one.what}", rows=(self._name, *one.rows)) for one in reasons]


# One question is put to a hundred builds, and to the same ones again: what is the same for many of them is kept.


Kept = dict[int, tuple[FrameworkRow, Any]]  # by the row's id, which belongs to no other one while the row is kept


def _kept(look: Callable[[], T], row: FrameworkRow, before: Kept) -> T:
    """What was found of a row before."""
    if id(row) not in before:
        before[id(row)] = row, look()
    found: T = before[id(row)][1]
    return found


@lru_cache(maxsize=4096)
def _is_nowhere(name: str, pin: str, os_family: str, arch: str, matrix: Matrix) -> bool:
    """Whether rows have builds of the releases that a pin admits, and none of them for this platform."""
    if not (is_framework(name) and matrix.has(name)):
        return False
    rows: tuple[FrameworkRow, ...] = matrix.rows(name, "builds")
    admitted = [row for row in rows if overlap((pin, row.versions)) != "no"]
    return bool(admitted) and not any(os_family in row.os and arch in row.arch for row in admitted)


@lru_cache(maxsize=1024)
def _against_all(name: str, pin: str, where: TargetMachine, matrix: Matrix) -> Reason | None:
    """What is against the newest build of a package that a pin admits; None where one works, or there is none here."""
    names = (name,) if name in gpu_packages(name) else gpu_packages(name)
    every = (row for one in names if matrix.has(one) for row in matrix.rows(one, "builds") if row.confidence != "low")
    here = (row for row in every if where.os_family in row.os and where.arch in row.arch)
    admitted = [row for row in here if row.build != "cpu" and overlap((pin, row.versions)) != "no"]
    missing = None if admitted else absent(name, pin, where, matrix)
    if missing:
        return Reason(BAD, missing.summary, (row_name("platform", "absent", missing),), missing.source)
    found: dict[str, Reason] = {}
    for row in sorted(admitted, key=lambda row: release_key(row.versions), reverse=True):
        judged = fit(row, where, matrix)
        if judged.verdict == "yes":
            return None
        kind = BAD if judged.verdict == "no" else UNKNOWN
        against = next(reason for reason in judged.reasons if reason.kind == kind)
        found.setdefault(kind, against._replace(what=f"{name_of(row)} {against.brief}", short=""))
    return found.get(UNKNOWN) or found.get(BAD)


@lru_cache(maxsize=1024)
def _newest_python(package: str, since: tuple[int, ...], matrix: Matrix) -> tuple[int, ...]:
    """The newest Python that a release from one on has wheels for; () where no row says any."""
    rows: tuple[FrameworkRow, ...] = matrix.rows(package, "builds") if matrix.has(package) else ()
    later = (row for row in rows if row.python and release_key(row.versions) > since)
    return max((release_key(python) for row in later for python in row.python or ()), default=())


@lru_cache(maxsize=256)
def _whatever_python(circumstances: TargetMachine, matrix: Matrix, brought: frozenset[str] | None) -> Kept:
    return _on_one_python(circumstances._replace(python=""), matrix, brought)


@lru_cache(maxsize=256)
def _on_one_python(*_: object) -> Kept:
    return {}


@lru_cache(maxsize=256)
def _of_cards(*_: object) -> Kept:
    return {}


@lru_cache(maxsize=1024)
def _drives(circumstances: TargetMachine, matrix: Matrix) -> tuple[Reason, ...]:
    return tuple(drives_reasons(circumstances, matrix))


@lru_cache(maxsize=4096)
def _starts(cuda: CudaVersion, circumstances: TargetMachine, matrix: Matrix) -> tuple[Reason, ...]:
    return tuple(driver_reasons(cuda, circumstances, matrix))


@lru_cache(maxsize=4096)
def _serves_as(targets: tuple[CodeTarget, ...], gpu: ComputeCapability, jetson: bool) -> str:
    """The kind of the code that runs on the card, machine code first; "" where none does."""
    machine = tuple(target for target in targets if target.kind == "sm")
    if serves(machine, gpu, jetson=jetson):
        return "sm"
    return "compute" if serves(targets, gpu, jetson=jetson) else ""


@lru_cache(maxsize=1024)
def _listed(targets: tuple[CodeTarget, ...]) -> str:
    return ", ".join(map(str, targets))


def _span(cudas: tuple[CudaVersion, ...]) -> str:
    return str(cudas[0]) if len(cudas) == 1 else f"{cudas[0]} to {cudas[-1]}"
