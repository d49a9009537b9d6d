"""What is known of a framework's build, from its own files first, the matrix second; and builds that fit better."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from compat.base.record import NamedTuple
from compat.build import covers, gpu_packages, has_python, is_cuda_row, oldest_cuda, release_key
from compat.matrix import Matrix, Uncovered, accepts, known
from compat.need import Advice, ChangePackages, InstallPackage, Need
from compat.row import FrameworkRow
from compat.specifier import keeps
from compat.traits import traits_of
from compat.version import CodeTarget, CudaVersion, DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment, Framework, Import, Unmet
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Symptom
from doctor.rules.shared.pins import pin
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import environment_of

_ARCHES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "sbsa", "arm64": "sbsa", "ppc64le": "ppc64le"}


class Platform(NamedTuple):
    """What a wheel is built for, in the matrix' words."""

    os_family: str  # "linux"
    arch: str  # "x86_64", "sbsa", "jetson", "ppc64le"

    def __str__(self) -> str:
        return f"{self.os_family} {self.arch}"


def platform_of(facts: Facts) -> Platform:
    """The machine's platform; raises UnseenError."""
    if value_or(facts.system.jetson, ""):
        return Platform("linux", "jetson")
    machine = facts.system.machine.get()
    return Platform(facts.system.family.get(), _ARCHES.get(machine.lower(), machine))


def need_own_cuda(framework: Framework) -> None:
    """Raise NotApplicable for a CPU or ROCm build, and for what runs on another framework's CUDA."""
    if framework.is_cpu_build:
        raise NotApplicable(f"{framework.label} is a CPU build")
    if value_or(framework.build, "").startswith("rocm"):
        raise NotApplicable(f"{framework.label} is built for AMD GPUs")
    if traits_of(framework.package).runs_on:
        raise NotApplicable(f"{framework.package} uses the CUDA of {traits_of(framework.package).runs_on}")


def build_row(framework: Framework, facts: Facts, matrix: Matrix) -> FrameworkRow:
    """The row of the installed build; raises Uncovered."""
    platform, public = platform_of(facts), framework.version.partition("+")[0]
    build = value_or(framework.build, "")
    here = [row for row in matrix.framework_rows(framework.package, public) if _is_for(row, platform)]
    named = [row for row in here if isinstance(framework.build, Seen) and row.build == build]
    if not named and build in ("", "cuda"):  # which CUDA build it is, the package does not tell
        named = [row for row in here if is_cuda_row(row) and _may_be(row, framework)]
        named = named if len({row.build for row in named}) == 1 else []
    if not named:
        return matrix.framework(framework.package, public, build or "unknown build", *platform)
    return named[0]


def _may_be(row: FrameworkRow, framework: Framework) -> bool:
    return not isinstance(framework.cuda, Seen) or accepts(row.cuda or "", framework.cuda.value)


def _is_for(row: FrameworkRow, platform: Platform) -> bool:
    return platform.os_family in row.os and platform.arch in row.arch


def targets_of(framework: Framework, facts: Facts, matrix: Matrix) -> Seen[tuple[CodeTarget, ...]]:
    """What the build's kernels were compiled for; raises Uncovered where neither the package nor the matrix says."""
    if isinstance(framework.targets, Seen):
        return framework.targets
    row = build_row(framework, facts, matrix)
    return Seen(known(row, "targets"), f"matrix, {row.id}")


def cuda_of(framework: Framework, facts: Facts, matrix: Matrix) -> Seen[CudaVersion]:
    """The CUDA it was built with, or the oldest it accepts; raises Uncovered, NotApplicable where it needs none."""
    if isinstance(framework.cuda, Seen):
        return framework.cuda
    row = build_row(framework, facts, matrix)
    if not known(row, "cuda"):
        raise NotApplicable(f"{framework.label} needs no CUDA")
    return Seen(oldest_cuda(row, matrix), f"matrix, {row.id}")


def other_builds(
    framework: Framework, facts: Facts, matrix: Matrix, fits: Callable[[FrameworkRow], bool], *, driver: bool = True
) -> tuple[FrameworkRow, ...]:
    """Published CUDA builds of the same framework that this machine and its Python can take, nearest release first.

    The same release comes first, then newer ones, then older ones; within a release the newest CUDA. `driver` says
    whether the installed driver must start them. Empty where the matrix knows of none.
    """
    platform, environment = platform_of(facts), environment_of(framework, facts)
    current = release_key(framework.version)

    def place(row: FrameworkRow) -> tuple[int, tuple[int, ...]]:
        release = release_key(row.versions)
        if covers(row, framework.version):
            return 0, ()
        return (1, release) if release >= current else (2, tuple(-part for part in (*release, 0, 0, 0)[:4]))

    found = [
        row
        for package in gpu_packages(framework.package)
        for row in _all_rows(package, matrix)
        if is_cuda_row(row) and _is_for(row, platform) and has_wheel(row, environment) and _is_published(row)
        if fits(row) and (not driver or runs_on_driver(row, facts, matrix))
    ]
    by_cuda = sorted(found, key=lambda row: release_key(row.cuda or ""), reverse=True)
    return tuple(sorted(by_cuda, key=place))


def _all_rows(package: str, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    return matrix.rows(package, "builds") if matrix.has(package) else ()


def has_wheel(row: FrameworkRow, environment: Environment) -> bool:
    """Whether a build has a wheel for the Python of an environment; yes where either is not known."""
    return has_python(row, ".".join(value_or(environment.python, "").split(".")[:2]))


def _is_published(row: FrameworkRow) -> bool:
    """No pre-release, and more than an announcement."""
    return row.confidence != "low" and not re.search(r"\d(a|b|rc|\.dev)\d", row.versions)


def runs_on_driver(row: FrameworkRow, facts: Facts, matrix: Matrix) -> bool:
    """Whether the installed driver starts this build; yes where no driver was seen, no where the matrix cannot tell."""
    if not isinstance(facts.driver.release, Seen):
        return True
    try:
        return facts.driver.release.value >= driver_floor_of(row, facts, matrix)
    except Uncovered:
        return False


def driver_floor_of(row: FrameworkRow, facts: Facts, matrix: Matrix) -> DriverRelease:
    """The oldest driver that starts this build; raises Uncovered."""
    return matrix.driver_floor(oldest_cuda(row, matrix), platform_of(facts).os_family)


def need_of(row: FrameworkRow, framework: Framework, facts: Facts) -> Need:
    """The need to have the build of this row in the framework's environment.

    Reinstalled if an installer would call the installed build satisfied: it was built from source.
    """
    if row.package.endswith("-plugin"):
        return cuda_need_of(row.package, framework, facts, same_release=covers(row, framework.version))
    python = environment_of(framework, facts).interpreter
    if row.package != framework.package:  # the same import package under another name: one of them must go first
        served = f"+{row.build}" if re.fullmatch(r"cu\d+", row.build) and row.versions.startswith("==") else ""
        return ChangePackages((f"{row.package}{row.versions}{served}",), python, (framework.package,))
    tag = row.build if traits_of(row.package).tagged else ""
    if covers(row, framework.version) and tag == framework.version.partition("+")[2]:
        return InstallPackage(row.package, f"=={framework.version.partition('+')[0]}", python, reinstall=True)
    return InstallPackage(row.package, row.versions, python, row.build)


def cuda_need_of(package: str, framework: Framework, facts: Facts, *, same_release: bool = True) -> Need:
    """The need to have a package that adds GPU code: where an extra asks for it, that extra, which fits the release."""
    environment = environment_of(framework, facts)
    extra = re.fullmatch(r"([\w-]+)\[(cuda\d+)\]", traits_of(package).asked_as.get(package, ""))
    if not extra:
        return ChangePackages((package,), environment.interpreter, (framework.package,))
    release = next((one.version for one in installed(environment) if one.name == extra[1]), "")
    return InstallPackage(
        extra[1], f"=={release}" if release and same_release else "", environment.interpreter, extra[2]
    )


def nearest_and_newest(rows: tuple[FrameworkRow, ...]) -> tuple[FrameworkRow, ...]:
    """What is worth offering: the nearest release, and the newest where it is another."""
    if not rows:
        return ()
    newest = max(rows, key=lambda row: release_key(row.versions))
    same = release_key(newest.versions) == release_key(rows[0].versions)
    return rows[:1] if same else (rows[0], newest)


def finds_wheels(framework: Framework) -> bool:
    """Whether the process of this release finds the wheels of CUDA's libraries by itself."""
    releases = traits_of(framework.package).finds_wheels
    return bool(releases) and keeps(releases, framework.version)


def is_extra_for_libraries(framework: Framework) -> bool:
    """Whether CUDA's libraries come with an extra of its own name, and it finds them: tensorflow[and-cuda]."""
    asked = traits_of(framework.package).asked_as.get(framework.package, "")
    return asked.startswith(f"{framework.package}[") and finds_wheels(framework)


def preload(framework: Framework) -> tuple[Need, ...]:
    """What the program calls before, which the framework's own guide tells it to."""
    calls = traits_of(framework.package).preload.items()
    return tuple(
        Advice(f"In the program, call {call} before any other use of {framework.package}.")
        for call, releases in calls
        if keeps(releases, framework.version)
    )


def import_symptoms(framework: Framework) -> tuple[Symptom, ...]:
    """The findings that a broken framework causes when it is imported."""
    subject = f"import of {framework.package} in {framework.environment}"
    return Symptom("framework-import-crash", subject), Symptom("framework-import-hang", subject)


def is_of_the_base(library: str, framework: Framework, facts: Facts) -> bool:
    """Whether a library belongs to what a framework runs on: what it lacks is told once, of that."""
    base = traits_of(framework.package).runs_on
    beside = value_or(environment_of(framework, facts).frameworks, ())
    return any(one.package == base and one.path and library.startswith(f"{one.path}/") for one in beside)


def overwritten_among(environment: Environment, names: Collection[str]) -> tuple[Symptom, ...]:
    """The finding about overwritten files, where it is about these distributions alone."""
    owners = {owner.partition(" ")[0] for one in value_or(environment.overlaps, ()) for owner in one.owners}
    return (Symptom("wheel-files-overwritten", environment.label),) if owners <= set(names) else ()


def imported(tried: Import, facts: Facts) -> tuple[Environment, Framework | None]:
    """The environment of an import that was tried, and the framework, where its facts name it."""
    environment = next(one for one in facts.environments.get() if one.prefix == tried.environment)
    frameworks = value_or(environment.frameworks, ())
    return environment, next((one for one in frameworks if one.package == tried.package), None)


def unmet_requirements(framework: Framework, facts: Facts) -> tuple[Unmet, ...]:
    """Return what a framework always requires and is not installed; () where that was not read."""
    own = distribution_of(framework, facts)
    found = value_or(environment_of(framework, facts).unmet, ())
    return tuple(one for one in found if own and one.distribution == own.name)


def riders(framework: Framework, environment: Environment) -> tuple[Framework, ...]:
    """What runs on a framework, and is compiled for its builds with GPU code."""
    frameworks = value_or(environment.frameworks, ())
    return tuple(one for one in frameworks if traits_of(one.package).runs_on == framework.package)


def fits_dependents(row: FrameworkRow, framework: Framework, environment: Environment) -> bool:
    """Whether riders take this release of what they run on; a follower comes again with it, and its pin goes."""
    followers = traits_of(framework.package).followers
    staying = (one for one in riders(framework, environment) if one.package not in followers)
    asked = (pin(text) for one in staying for text in value_or(one.requires, ()))
    pins = (one.specifier for one in asked if one and one.name == framework.package and not one.optional)
    return all(keeps(one, row.versions.lstrip("=")) for one in pins)


def installed(environment: Environment) -> Iterator[Distribution]:
    """The distributions that Python would import: not the hidden copies; raises UnseenError."""
    return (one for one in environment.distributions.get() if not one.hidden_by)


def distribution_of(framework: Framework, facts: Facts) -> Distribution | None:
    """The distribution that a framework was read from; None where the environment does not list it."""
    found = installed(environment_of(framework, facts))
    return next((one for one in found if one.name == framework.package), None)
