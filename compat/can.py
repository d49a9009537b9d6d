"""Can this run there: a product, a GPU, a driver, answered yes, no or unknown with each reason and its row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from compat.build import (
    backend_needed,
    covers,
    gpu_packages,
    is_cuda_row,
    is_default_build,
    is_pre_release,
    name_of,
    release_key,
    required_frameworks,
)
from compat.cards import GpuCard
from compat.fit import fit
from compat.matrix import Matrix, Uncovered, accepts
from compat.overlap import overlap
from compat.platform import absent, brought_by, extras_asked, fits_extras
from compat.reason import (
    BAD,
    NO,
    OK,
    UNKNOWN,
    YES,
    Reason,
    cudnn_reasons,
    driver_reasons,
    drives_reasons,
    extra_reasons,
    reaches,
    row_name,
    toolkit_reasons,
    verdict_of,
)
from compat.row import CudnnBuildRow, FrameworkRow, ToolkitRow, WheelIndexRow
from compat.spec import Spec
from compat.specifier import first_release
from compat.target import TargetMachine
from compat.traits import traits_of
from compat.version import ComputeCapability, CudaVersion, CudnnVersion

if TYPE_CHECKING:
    from compat.can_together import Joint  # only a question about several packages asks for it

_MOST_CHIPS = 16
_NAMED_FOR_CUDA = re.compile(r"-cu(da)?\d|-gpu$")  # cupy-cuda12x, tensorrt-cu12, onnxruntime-gpu
_ORDER = {YES: 0, UNKNOWN: 1, NO: 2}


class BuildVerdict(NamedTuple):
    """One published build of what was asked for, judged."""

    name: str  # "torch 2.6.0 (cu124)"
    row: str  # "torch.builds[torch-2.6.0-cu124]"
    release: tuple[int, ...]  # for ordering
    is_gpu: bool
    reasons: tuple[Reason, ...]
    note: str  # of the row
    build: FrameworkRow | None = None  # None for CUDA and cuDNN

    @property
    def verdict(self) -> str:
        """The reasons taken together."""
        return verdict_of(self.reasons)


class CanAnswer(NamedTuple):
    """What one spec comes to; the candidates are of the release that answers, and of newer ones that do not fit."""

    spec: str
    verdict: str
    best: BuildVerdict | None
    others: tuple[BuildVerdict, ...]
    reasons: tuple[Reason, ...]  # where there is no candidate
    instead: tuple[str, ...]  # releases outside the spec that fit

    @property
    def usable(self) -> tuple[BuildVerdict, ...]:
        """The candidates that are not known not to work."""
        return tuple(one for one in (*((self.best,) if self.best else ()), *self.others) if one.verdict != NO)


class Case(NamedTuple):
    """The answers for one set of chips."""

    cards: tuple[str, ...]  # "NVIDIA GeForce GT 640 (sm_30)"
    answers: tuple[CanAnswer, ...]
    together: Reason | None = None  # whether several frameworks go into one environment, where each does alone
    chips: tuple[ComputeCapability, ...] = ()

    @property
    def verdict(self) -> str:
        """All answers taken together: one no is a no."""
        joint = (verdict_of((self.together,)),) if self.together else ()
        verdicts: tuple[str, ...] = (*(answer.verdict for answer in self.answers), *joint)
        return max(verdicts, key=_ORDER.__getitem__)


class Reply(NamedTuple):
    """The whole answer: a case for each set of chips that the names of the cards can mean."""

    cases: tuple[Case, ...]
    complete: bool = True  # whether every set of chips was looked at

    @property
    def verdict(self) -> str:
        """What all cases say; unknown where they differ, or are too many to look at."""
        verdicts = {case.verdict for case in self.cases}
        return verdicts.pop() if len(verdicts) == 1 and self.complete else UNKNOWN


def can(specs: tuple[Spec, ...], cards: tuple[GpuCard, ...], where: TargetMachine, matrix: Matrix) -> Reply:
    """Judge each spec for every set of chips that the cards may carry; cuda== and cudnn== also serve the others."""
    families = tuple(dict.fromkeys(card.family for card in cards))
    where = with_companions(specs, where, matrix)._replace(families=families)
    cases = []
    every = list(itertools.islice(itertools.product(*(card.capabilities for card in cards)), _MOST_CHIPS + 1))
    for chips in every[:_MOST_CHIPS]:
        labels = tuple(card.label(chip) for card, chip in zip(cards, chips, strict=True))
        here = where._replace(capabilities=tuple(dict.fromkeys(chips)))
        answers = tuple(answer(spec, here, matrix) for spec in specs)
        joint = _together(specs, answers, here, matrix)
        if joint and len(specs) == 1:  # with what it requires: its newest build may go with none of that
            answers = (_taken(specs[0], answers[0], joint, here, matrix),)
        cases.append(Case(labels, answers, joint and joint.reason, here.capabilities))
    return Reply(tuple(cases), len(every) <= _MOST_CHIPS)


def _together(
    specs: tuple[Spec, ...], answers: tuple[CanAnswer, ...], where: TargetMachine, matrix: Matrix
) -> Joint | None:
    is_alone = len(answers) == 1 and any(map(_has_code, answers))
    hosts = _hosts(specs, answers, matrix) if where.wants_gpu else ()
    frameworks = {spec.name for spec in specs} - {"cuda", "cudnn"}
    if len(frameworks) + len(hosts) < 2 or any(one.verdict == NO for one in answers):
        return None
    from compat.can_together import Joint, apart, together  # late: the solver is only for several frameworks

    if any(one.verdict == UNKNOWN for one in answers):
        pins = apart(tuple(tuple(one.build for one in answer.usable if one.build) for answer in answers))
        if pins or not hosts:
            return Joint(pins, (), {}) if pins else None
    rows = tuple(one.best.build for one in answers if one.best and one.best.build)
    joint = together(specs, rows, where._replace(as_written=len(frameworks) > 1), matrix)
    if joint is None or joint.reason.kind == BAD:
        return joint
    own = {row_name(row.package, "builds", row) for row in rows}
    is_said = is_alone and own.isdisjoint(joint.reason.rows)  # its own code was judged
    return None if is_said or any(one.verdict == UNKNOWN for one in answers) else joint


def _taken(spec: Spec, given: CanAnswer, joint: Joint, where: TargetMachine, matrix: Matrix) -> CanAnswer:
    """The answer with the build that the solver takes; what it passed over has the reason why."""
    rows = {row.id for row in joint.chosen}
    best = next((one for one in ranked(spec, where, matrix) if one.build and one.build.id in rows), None)
    if best is None or given.best is None or best.row == given.best.row:
        return given
    every = (given.best, *given.others)
    others = tuple(one._replace(reasons=_with(one, joint)) for one in every if one.row != best.row)
    return given._replace(best=best, others=others)


def _with(one: BuildVerdict, joint: Joint) -> tuple[Reason, ...]:
    """Its reasons, and what the solver has against it."""
    against = joint.against.get(one.name)
    return (*one.reasons, against) if against and against.kind != OK else one.reasons


def _has_code(answer: CanAnswer) -> bool:
    """Whether its build has GPU code of its own: then what it requires besides can only rule it out."""
    return answer.best is not None and answer.best.build is not None and is_cuda_row(answer.best.build)


def _hosts(specs: tuple[Spec, ...], answers: tuple[CanAnswer, ...], matrix: Matrix) -> tuple[str, ...]:
    """The packages that were not named and whose GPU code the others run: torch for transformers."""
    best = (one.best.build for one in answers if one.best)
    rows = [row for row in best if row and (is_default_build(row) or not is_cuda_row(row))]
    hosts = dict.fromkeys(host for row in rows for host in required_frameworks(row, matrix))
    hosts |= dict.fromkeys(filter(None, (backend_needed(row, [spec.name for spec in specs]) for row in rows)))
    return tuple(host for host in hosts if host not in {spec.name for spec in specs})


def with_companions(specs: tuple[Spec, ...], where: TargetMachine, matrix: Matrix) -> TargetMachine:
    """A CUDA or cuDNN release named beside frameworks is the one that lies on the system."""
    for spec in specs:
        release = re.fullmatch(r"==(\d+(?:\.\d+){1,3})(?:\.\*)?", spec.versions)
        if spec.name == "cuda" and release:
            where = where._replace(cuda=CudaVersion.parse(release[1]))
        elif spec.name == "cudnn" and release:
            version = CudnnVersion.parse(release[1])
            found = [row.version for row in matrix.rows("cudnn", "releases") if row.version.agrees_with(version)]
            where = where._replace(cudnn=found[-1] if found else version)
    return where


def answer(spec: Spec, where: TargetMachine, matrix: Matrix) -> CanAnswer:
    """Judge the published builds that a spec means: the newest release that fits, else the nearest to it."""
    found = ranked(spec, where, matrix) or [*_known_absent(spec, where, matrix)]
    if not found:
        return _nothing(spec, where, matrix)
    best = found[0]
    shown = tuple(one for one in found[1:] if one.release >= best.release)
    instead = () if best.verdict == YES else _instead(spec, best, where, matrix)
    return CanAnswer(spec=str(spec), verdict=best.verdict, best=best, others=shown, reasons=(), instead=instead)


def ranked(spec: Spec, where: TargetMachine, matrix: Matrix) -> list[BuildVerdict]:
    """Every published build that a spec means, judged, the best answer first."""
    return sorted(_candidates(spec, where, matrix), key=_rank)


def _rank(candidate: BuildVerdict) -> tuple[int, bool, tuple[int, ...]]:
    """Fitting builds first, GPU builds before CPU ones, newest release first; else as the table has them."""
    newest = tuple(-part for part in (*candidate.release, 0, 0, 0, 0)[:4])
    return _ORDER[candidate.verdict], not candidate.is_gpu, newest


def _candidates(spec: Spec, where: TargetMachine, matrix: Matrix) -> Iterable[BuildVerdict]:
    if spec.name == "cuda":
        return _toolkits(spec, where, matrix)
    if spec.name == "cudnn":
        return _cudnns(spec, where, matrix)
    return (_framework(row, spec, where, matrix) for row in rows_of(spec, where, matrix))


def rows_of(spec: Spec, where: TargetMachine, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    """The builds that a spec means on this platform; all platforms where there is none that could do.

    A CPU build of this platform does not say that there is no GPU build for it.
    """
    packages = packages_of(spec, matrix)
    rows = tuple(row for package in packages for row in _meant_of(package, spec, matrix))
    rows = tuple(row for row in rows if fits_extras(spec, row, matrix))
    if where.wants_gpu and len(packages) > 1:  # jax itself says nothing of a GPU: its plugins do
        rows = tuple(row for row in rows if row.cuda != "" or not traits_of(row.package).runs_on)
    here = tuple(row for row in rows if where.os_family in row.os and where.arch in row.arch)
    if where.wants_gpu and not any(is_cuda_row(row) or row.cuda is None for row in here):
        return (*here, *(row for row in rows if is_cuda_row(row) and row not in here)) or rows
    return here or rows


def _meant_of(package: str, spec: Spec, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    """One row stands for the CPU builds of all releases: it alone does not say that there is such a release."""
    every: tuple[FrameworkRow, ...] = matrix.rows(package, "builds") if matrix.has(package) else ()
    named = tuple(row for row in every if _is_meant(row, spec._replace(build="")))
    final = tuple(row for row in named if is_pre_release(spec.versions) or not is_pre_release(row.versions))
    rows = final or named
    # Where there is the very release that was named, its post-releases are others (PEP 440: ==0.4.0 admits none).
    plain = tuple(row for row in rows if not re.match(r"==[^,]*\.post", row.versions))
    is_one = re.fullmatch(r"==[\d.]+", spec.versions) and any(row.versions.startswith("==") for row in plain)
    released = plain if is_one else rows
    alone = all(row.cuda == "" for row in released) and any(is_cuda_row(row) for row in every)
    meant = tuple(row for row in released if not spec.build or row.build == spec.build)
    return tuple(row for row in meant if row.versions.startswith("==")) if alone else meant


def packages_of(spec: Spec, matrix: Matrix) -> tuple[str, ...]:
    """The distributions that a spec may be installed as: those with GPU code, and the one that was named.

    Who names a CPU package means it.
    """
    known = () if spec.name.endswith("-cpu") else gpu_packages(spec.name)
    chosen = tuple(dict.fromkeys(row.asks for row in extras_asked(spec, matrix) if row.asks in known))
    return chosen or tuple(dict.fromkeys((spec.name, *known)))


def _is_meant(row: FrameworkRow, spec: Spec) -> bool:
    if not spec.versions:
        return True
    if spec.versions.startswith("==") and "," not in spec.versions and not spec.versions.endswith("*"):
        wanted = spec.versions[2:]
        return covers(row, wanted) if re.fullmatch(r"[\d.]+", wanted) else accepts(row.versions, wanted)
    if row.versions.startswith("==") and not row.versions.endswith("*"):
        return accepts(spec.versions, row.versions[2:])
    if overlap((spec.versions, row.versions)) == NO:  # an end may be the first release that is not of the row
        return False
    return any(accepts(spec.versions, release) for release in _ends(row))


def _ends(row: FrameworkRow) -> Iterator[str]:
    """The releases by which a row of many releases is named: its bounds."""
    for clause in row.versions.split(","):
        yield clause.lstrip("=<>!~").removesuffix(".*")


def _framework(row: FrameworkRow, spec: Spec, where: TargetMachine, matrix: Matrix) -> BuildVerdict:
    name = row_name(row.package, "builds", row)
    brought = brought_by(spec, row.package, matrix)
    names_gpu = is_cuda_row(row) and bool(spec.build or brought or _NAMED_FOR_CUDA.search(spec.name))
    is_here = where.os_family in row.os and where.arch in row.arch
    one = row if is_here or not re.fullmatch(r"==[\d.]+", spec.versions) else row._replace(versions=spec.versions)
    judged = fit(one, where._replace(names_gpu=names_gpu), matrix, brought).reasons  # elsewhere, of this release alone
    return BuildVerdict(
        name=name_of(row),
        row=name,
        release=release_key(row.versions),
        is_gpu=is_cuda_row(row),
        reasons=(*extra_reasons(spec, row, matrix), *judged),
        note=row.note,
        build=row,
    )


def _toolkits(spec: Spec, where: TargetMachine, matrix: Matrix) -> Iterator[BuildVerdict]:
    """One candidate for each CUDA version: a patch level changes nothing here."""
    rows: tuple[ToolkitRow, ...] = matrix.rows("cuda", "toolkits")
    meant: dict[CudaVersion, ToolkitRow] = {}
    for row in sorted(rows, key=lambda row: release_key(row.release)):
        if _names_release(spec.versions, row.release, str(row.cuda)):
            meant.setdefault(row.cuda, row)
    for cuda, row in meant.items():
        reasons = (*_absent("cuda", str(cuda), where, matrix), *toolkit_reasons(cuda, where, matrix))
        reasons = reasons or (_exists(f"CUDA {cuda}", "cuda", "toolkits", row),)
        yield BuildVerdict(
            name=f"CUDA {cuda}",
            row=row_name("cuda", "toolkits", row),
            release=tuple(cuda),
            is_gpu=True,
            reasons=reasons,
            note=row.note,
        )


def _absent(product: str, release: str, where: TargetMachine, matrix: Matrix) -> Iterator[Reason]:
    row = absent(product, f"=={release}", where, matrix)
    if row:
        yield Reason(BAD, row.summary, (row_name("platform", "absent", row),), row.source)


def _exists(name: str, product: str, table: str, row: ToolkitRow | CudnnBuildRow) -> Reason:
    return Reason(
        OK, f"{name} was released; no GPU and no driver was given", (row_name(product, table, row),), row.source
    )


def _names_release(specifier: str, *releases: str) -> bool:
    """Whether a specifier means a release: "==12.4" also means 12.4.1, and "==5.1" is 5.1.10."""
    if specifier.startswith("==") and "," not in specifier:
        wanted = specifier[2:].removesuffix(".*")
        return any(f"{release}.".startswith(f"{wanted}.") for release in releases)
    return any(accepts(specifier, release) for release in releases)


def _cudnns(spec: Spec, where: TargetMachine, matrix: Matrix) -> Iterator[BuildVerdict]:
    """A release and the CUDA major that it was built for."""
    for row in _cudnn_builds(spec, where, matrix):
        name = f"cuDNN {row.version} for CUDA {row.cuda_major}"
        reasons = (
            *_absent("cudnn", str(row.version), where, matrix),
            *cudnn_reasons(row, where, matrix),
            *_cudnn_driver(row, where, matrix),
            *drives_reasons(where, matrix),
            *_cudnn_cuda(row, where),
        )
        yield BuildVerdict(
            name=name,
            row=row_name("cudnn", "builds", row),
            release=(*row.version, row.cuda_major),
            is_gpu=True,
            reasons=reasons or (_exists(name, "cudnn", "builds", row),),
            note=row.note,
        )


def _cudnn_builds(spec: Spec, where: TargetMachine, matrix: Matrix) -> list[CudnnBuildRow]:
    """Those that a spec means: for the CUDA major that it names, else for that of the system where there are some."""
    full = {one.version: tuple(map(str, one.full_versions)) for one in matrix.rows("cudnn", "releases")}
    rows: tuple[CudnnBuildRow, ...] = matrix.rows("cudnn", "builds")
    meant = [row for row in rows if _names_release(spec.versions, str(row.version), *full.get(row.version, ()))]
    wanted = spec.build.removeprefix("cuda").removeprefix("cu")
    if wanted:
        return [row for row in meant if str(row.cuda_major) == wanted]
    return [row for row in meant if where.cuda and row.cuda_major == where.cuda.major] or meant


def _cudnn_driver(row: CudnnBuildRow, where: TargetMachine, matrix: Matrix) -> Iterator[Reason]:
    if where.driver is None:
        return
    floor = row.driver_windows if where.driver_family == "windows" else row.driver_linux
    if floor is not None:
        runs = reaches(where.driver, floor)
        what = f"driver {where.driver} is enough, from {floor} on" if runs else f"needs driver {floor} or newer"
        yield Reason(OK if runs else BAD, what, (row_name("cudnn", "builds", row),), row.source)
    elif row.cuda_min is not None:
        yield from driver_reasons(row.cuda_min, where, matrix)
    else:
        yield Reason(UNKNOWN, "the driver that it needs is unknown", (row_name("cudnn", "builds", row),), row.source)


def _cudnn_cuda(row: CudnnBuildRow, where: TargetMachine) -> Iterator[Reason]:
    """From CUDA 11 on a build serves its whole major (minor-version compatibility), before that what it names."""
    if where.cuda is None:
        return
    first, last = row.cuda_min or where.cuda, row.cuda_max or where.cuda
    serves_major = where.cuda.major == row.cuda_major and (row.cuda_major >= 11 or first <= where.cuda <= last)
    what = f"{'is' if serves_major else 'is not'} for CUDA {where.cuda}: built for {_span(row)}"
    yield Reason(OK if serves_major else BAD, what, (row_name("cudnn", "builds", row),), row.source)


def _span(row: CudnnBuildRow) -> str:
    if row.cuda_min is None:
        return f"CUDA {row.cuda_major}"
    return f"{row.cuda_min} to {row.cuda_max}" if row.cuda_max else f"{row.cuda_min} and newer of CUDA {row.cuda_major}"


def _known_absent(spec: Spec, where: TargetMachine, matrix: Matrix) -> Iterator[BuildVerdict]:
    """No row of builds, and one that says why: there is none for this platform, or the index of its CUDA ended."""
    release = first_release(spec.versions)
    reasons = (*_absent(spec.name, release, where, matrix), *_unserved(spec, release, matrix))
    if spec.versions.startswith("==") and reasons:
        name = f"{spec.name} {release}" + (f" ({spec.build})" if spec.build else "")
        yield BuildVerdict(name, reasons[0].rows[0], release_key(release), is_gpu=True, reasons=reasons[:1], note="")


def _unserved(spec: Spec, release: str, matrix: Matrix) -> Iterator[Reason]:
    """A release that is there, for a CUDA whose index is known and begins or ends with another release."""
    served: list[WheelIndexRow] = [
        row for row in matrix.rows("index", "wheels") if (row.package, row.build) == (spec.name, spec.build)
    ]
    if not re.fullmatch(r"cu\d+", spec.build) or not served:
        return
    if not any(is_cuda_row(row) and covers(row, release) for row in matrix.rows(spec.name, "builds")):
        return
    if not any(accepts(row.versions, release) for row in served):
        what = f"the index of {spec.build} has {spec.name} {' or '.join(row.versions for row in served)}"
        rows = tuple(row_name("index", "wheels", row) for row in served)
        yield Reason(BAD, what, rows, "; ".join(dict.fromkeys(row.source for row in served)))


def _nothing(spec: Spec, where: TargetMachine, matrix: Matrix) -> CanAnswer:
    """No row: unknown, with the nearest that there is."""
    version = first_release(spec.versions)
    reason = Reason(UNKNOWN, f"no matrix row covers {spec}", (), "")
    try:
        if spec.name not in {"cuda", "cudnn"}:
            matrix.framework(spec.name, version, spec.build, where.os_family, where.arch)
    except Uncovered as error:
        reason = reason._replace(what=str(error))
    return CanAnswer(spec=str(spec), verdict=UNKNOWN, best=None, others=(), reasons=(reason,), instead=())


def _instead(spec: Spec, best: BuildVerdict, where: TargetMachine, matrix: Matrix) -> tuple[str, ...]:
    """The nearest newer release that fits, and the nearest older one."""
    every = [one for one in _candidates(spec._replace(versions="", build=""), where, matrix) if one.verdict == YES]
    fitting = [one for one in every if one.is_gpu or not where.wants_gpu]
    newer = min((one for one in fitting if one.release >= best.release), key=lambda one: one.release, default=None)
    older = max((one for one in fitting if one.release < best.release), key=lambda one: one.release, default=None)
    return tuple(one.name for one in (newer, older) if one is not None)
