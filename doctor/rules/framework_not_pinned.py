"""A plan installs a framework without a release: what it brings changes with the day."""

from __future__ import annotations

from compat.build import gpu_packages
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, Need
from compat.row import CONDA_FORGE, ChannelRow
from compat.traits import traits_of
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.builds import build_row, platform_of, runs_on_driver
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import PLANNED_FRAMEWORKS, environment_of


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Name today's release, its CUDA and the driver that it needs.

    It is a warning if the default index decides and a driver, a GPU or an older base image is given, which the next
    release may not fit. PyTorch's own indexes keep to one CUDA release.
    """
    if framework.pinned_at is None:
        raise NotApplicable("no line installs it")
    if not framework.asked_as:
        return ok(f"{framework.pinned_at} has a version")
    if framework.package not in gpu_packages(framework.package) and not framework.from_index:
        raise NotApplicable(f"{framework.package} has only CPU builds")
    if (leader := traits_of(framework.package).runs_on) and not _brings(framework, facts):
        raise NotApplicable(f"{framework.package} runs on {leader}; none of its versions replaces that")
    cuda, base = value_or(framework.cuda, None), _base_major(facts)
    is_newer = cuda is not None and base is not None and cuda.major > base
    given = bool(facts.assumed) or is_newer
    read = matrix.as_of("index" if framework.from_index == CONDA_FORGE else framework.package)
    return bad(
        f"{_asked(framework)}: today ({read}) that is {framework.label}"
        f"{_build(framework, cuda, facts, matrix)}" + (f"; the base image is for CUDA {base}" if is_newer else ""),
        *_needs(framework, facts, matrix),
        severity=Severity.WARNING if given and framework.from_index in {"", CONDA_FORGE} else Severity.INFO,
        evidence=(Evidence.at(framework.pinned_at, framework.asked_as),),
    )


def _needs(framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """The pin of today's release; none where the driver is too old for it, whose own finding has a release."""
    try:
        starts = runs_on_driver(build_row(framework, facts, matrix), facts, matrix)
    except Uncovered:
        starts = True
    if framework.from_index == CONDA_FORGE and framework.is_cpu_build:
        return ()  # conda takes another build where it sees a driver
    return (Advice(f"{framework.pinned_at}: write {_pin(framework, matrix)}"),) if starts else ()


def _brings(framework: Framework, facts: Facts) -> bool:
    """Return whether it brings the framework that it runs on."""
    beside = value_or(environment_of(framework, facts).frameworks, ())
    return any(one.brought_by == framework.label for one in beside)


def _asked(framework: Framework) -> str:
    if framework.brought_by:
        return f"{framework.brought_by} requires {framework.asked_as}"
    return f"{framework.asked_as} " + (
        "is not pinned" if framework.asked_as == framework.package else "has no exact version"
    )


def _build(framework: Framework, cuda: CudaVersion | None, facts: Facts, matrix: Matrix) -> str:
    if framework.is_cpu_build:
        return ", a CPU build"
    if cuda is None:
        return ""
    try:
        floor = matrix.driver_floor(cuda, platform_of(facts).os_family)
    except Uncovered:
        return f", built for CUDA {cuda}"
    return f", built for CUDA {cuda}, which needs driver {floor} or newer"


def _base_major(facts: Facts) -> int | None:
    """Return the CUDA major of the base image; None if it names none."""
    if not isinstance(facts.dockerfile, Seen):
        return None
    release = facts.dockerfile.value.base.release
    return int(release.partition(".")[0]) if release else None


def _is_row_of(row: ChannelRow, framework: Framework, cuda: CudaVersion | None) -> bool:
    names = {framework.package, *gpu_packages(framework.package)}
    return row.channel == CONDA_FORGE and row.package in names and cuda in row.cuda


def _pin(framework: Framework, matrix: Matrix) -> str:
    """Return the requirement with its release; with its package index, if the build is not the default one."""
    public, _, build = framework.version.partition("+")
    pin = f"{framework.asked_as.rpartition(']')[0]}]" if "[" in framework.asked_as else framework.package
    if framework.from_index == CONDA_FORGE:
        rows = matrix.rows("index", "channels")
        cuda = value_or(framework.cuda, None)
        named = (row.command.rpartition(f"{CONDA_FORGE} ")[2] for row in rows if _is_row_of(row, framework, cuda))
        return next(named, f"{pin}={public}")
    if not framework.from_index:
        return f"{pin}=={public}"
    try:
        return f"{pin}=={public} --index-url {matrix.wheel_index(framework.package, build, public).url}"
    except Uncovered:
        return f"{pin}=={public}"


RULE = Rule(PLANNED_FRAMEWORKS, check, never={Status.UNKNOWN: "packages without data are not checked"})
