"""What an installer makes of an environment: which releases come, what they require, and which files leave."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.build import brings_libraries, covers, follows, has_python, is_default_build, release_key
from compat.load import is_framework
from compat.matrix import Matrix, Uncovered
from compat.row import FrameworkRow
from compat.spec import Spec, parse_spec
from compat.specifier import first_release, keeps
from compat.traits import module_of, traits_of
from compat.version import CudnnVersion
from doctor.host import Host, HostError
from doctor.host.files import lines_of
from doctor.host.overlay import Changes, Overlay
from doctor.model.facts import Facts
from doctor.model.facts.environment import (
    Distribution,
    Environment,
    Extension,
    Framework,
    HalfInstalled,
    Incomplete,
    NativeFault,
    Overlap,
    Unmet,
    WheelRequirement,
)
from doctor.model.facts.seen import Fact, Seen, Unseen, UnseenError, value_or
from doctor.planned.framework_from_row import framework_of_row, version_of
from doctor.prescribe.install_location import is_reached
from doctor.prescribe.predicted_files import PredictedFiles
from doctor.prescribe.simulated_machine import SimulatedMachine
from doctor.pyenv.metadata import RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST, listed
from doctor.rules.shared.builds import platform_of
from installers.effect import DistributionsInstalled
from installers.requirement import exact_version, wanted_version

_NOTE = "as a remedy would install it"
_MAJOR = re.compile(r"-cu\d+$")  # nvidia-cublas-cu12; not the start of nvidia-cublas


class Coming(NamedTuple):
    """One distribution that is installed."""

    name: str
    version: str  # "" if the newest one is unknown
    row: FrameworkRow | None  # what the matrix knows of its build
    spec: Spec

    @property
    def label(self) -> str:
        """As findings name a framework."""
        return f"{self.name} {self.version}"


def environment_at(python: str, facts: Facts) -> Environment | None:
    """The environment of an interpreter."""
    return next((one for one in value_or(facts.environments, ()) if python in {one.interpreter, one.prefix}), None)


def chosen(spec: Spec, environment: Environment, facts: Facts, matrix: Matrix, beside: tuple[Spec, ...] = ()) -> Coming:
    """The release and build that an installer takes: what is there and admitted stays, else the newest one.

    Of what follows a framework (torchvision), the newest that fits the release that is installed or named beside it.
    """
    there = _installed(environment).get(spec.name, "")
    row = _row_of(spec, environment, facts, matrix, beside)
    if row is not None:
        return Coming(spec.name, version_of(row, spec), row, spec)
    version = exact_version(spec.versions) or (there if there and keeps(spec.versions, there) else "")
    found = Coming(spec.name, version + (f"+{spec.build}" if spec.build and version else ""), None, spec)
    return found if version else _newest(found, matrix)


def _row_of(
    spec: Spec, environment: Environment, facts: Facts, matrix: Matrix, beside: tuple[Spec, ...]
) -> FrameworkRow | None:
    if not is_framework(spec.name) or not matrix.has(spec.name):  # conda has packages named cudnn and nccl
        return None
    if follows(spec.name):  # its release is that which fits its framework, not the newest
        return None
    try:
        platform = platform_of(facts)
    except UnseenError:
        return None
    python = ".".join(value_or(environment.python, "").split(".")[:2])
    rows: tuple[FrameworkRow, ...] = matrix.rows(spec.name, "builds")
    fit = [
        row
        for row in rows
        if platform.os_family in row.os and platform.arch in row.arch and _admits(spec.versions, row)
        if has_python(row, python)
        if (row.build == spec.build if spec.build else _comes_by_itself(row, rows))
    ]
    installed, leader = _installed(environment), traits_of(spec.name).runs_on
    named = next((exact_version(one.versions) for one in beside if one.name == leader), "")
    release = (named or installed.get(leader, "")).partition("+")[0]
    fit = [row for row in fit if release and keeps((row.pins or {}).get(leader, ""), release)] or fit
    public = installed.get(spec.name, "").partition("+")[0]
    staying = [row for row in fit if public and covers(row, public) and keeps(spec.versions, public)]
    return next(iter(staying or sorted(fit, key=lambda row: release_key(row.versions), reverse=True)), None)


def _admits(versions: str, row: FrameworkRow) -> bool:
    release = first_release(row.versions)
    exact = exact_version(versions)
    return covers(row, exact) if exact else keeps(versions, release)


def _comes_by_itself(row: FrameworkRow, rows: tuple[FrameworkRow, ...]) -> bool:
    """Whether the package index serves this build: of several of a release, the one its source names."""
    same = [one for one in rows if one.versions == row.versions]
    return len(same) == 1 or is_default_build(row) or not any(map(is_default_build, same))


def required(coming: Coming, facts: Facts, matrix: Matrix, environment: Environment) -> list[Coming]:
    """What comes along: the wheels that a build pins, a plugin that an extra names."""
    found: list[Coming] = []
    same = f"=={coming.version}" if coming.version else ""
    for extra in coming.spec.extras:
        names = traits_of(coming.name).brings.get(extra, "").split()
        brought = [chosen(Spec(name, same, "", (extra,)), environment, facts, matrix) for name in names]
        found += [*brought, *(required(brought[0], facts, matrix, environment) if brought else ())]
    row = coming.row
    if row is not None and row.pins and (not _by_extra(coming.name) or coming.spec.extras):
        found += [chosen(Spec(name, pin, "", ()), environment, facts, matrix) for name, pin in row.pins.items()]
    return [*found, *_of_cudnn(found, environment, facts, matrix)]


def _of_cudnn(found: list[Coming], environment: Environment, facts: Facts, matrix: Matrix) -> Iterator[Coming]:
    """The cuBLAS that cuDNN's wheel requires. Source: METADATA of nvidia-cudnn-cu12 9.10.2.21 and -cu13 9.28.1.4."""
    major = next((one.name.rpartition("-cu")[2] for one in found if one.name.startswith("nvidia-cudnn-cu")), "")
    name = f"nvidia-cublas-cu{major}" if major in {"11", "12"} else "nvidia-cublas"
    if major and all(one.name != name for one in found):
        yield chosen(Spec(name, "", "", ()), environment, facts, matrix)


def coming_by(
    effect: DistributionsInstalled, environment: Environment, facts: Facts, matrix: Matrix
) -> tuple[list[Coming], list[Coming]]:
    """What an installation brings along, and what was asked for; also what is there already at that release."""
    specs = tuple(map(parse_spec, effect.requirements))
    wanted = [chosen(one, environment, facts, matrix, specs) for one in specs]
    if effect.alone:
        return [], wanted
    there = _installed(environment)  # the commands name the release of a leader that is installed, and so keep it
    along = [(one, other) for one in wanted for other in required(one, facts, matrix, environment)]
    return [other for one, other in along if other.name not in there or other.name != follows(one.name)], wanted


def _by_extra(name: str) -> bool:
    """Whether CUDA comes along only where an extra is named: tensorflow[and-cuda]."""
    return "[" in traits_of(name).asked_as.get(name, "")


def _newest(coming: Coming, matrix: Matrix) -> Coming:
    """Of the wheels of cuDNN and of nvcc, which are numbered as their products, the newest one known and admitted."""
    product, _, major = coming.name.rpartition("-cu")
    if product == "nvidia-cudnn":
        known = [str(one) for row in matrix.rows("cudnn", "releases") for one in row.full_versions]
    elif product == "nvidia-cuda-nvcc":
        known = [row.release for row in matrix.rows("cuda", "toolkits") if row.release.startswith(f"{major}.")]
    else:
        versions = coming.spec.versions
        release = wanted_version(versions) if versions.startswith("==") else ""
        if coming.name.startswith("nvidia-") and (least := re.search(r">=\s*([\d.]+)", versions)):
            release = least[1]  # or a newer one of the same major
        return coming._replace(version=release) if release.count(".") > 1 else coming  # "==13.4.1.3.*"
    fit = [one for one in known if keeps(coming.spec.versions, one)]
    return coming._replace(version=max(fit, key=release_key)) if fit else coming


def _installed(environment: Environment) -> dict[str, str]:
    return {one.name: one.version for one in value_or(environment.distributions, ()) if not one.hidden_by}


def site_of(environment: Environment) -> str:
    """The directory that an installer fills."""
    sites = value_or(environment.sites, ())
    reached = (one for one in sites if is_reached(one, environment))
    return next(reached, next(iter(sites), f"{environment.prefix}/lib/python3/site-packages"))


def with_installed(
    world: SimulatedMachine, environment: Environment, coming: Coming, site: str = ""
) -> SimulatedMachine:
    """With one distribution in place of what was there under its name, as far as an installer reaches that."""
    recorded = _recorded(world, environment, coming)
    is_listed = isinstance(environment.distributions, Seen)  # a text names its frameworks only
    if coming.name in _installed(environment):
        world, environment = with_removed(world, environment, coming.name, site)
    elif not is_listed:
        others = tuple(one for one in value_or(environment.frameworks, ()) if one.package != coming.name)
        environment = environment._replace(frameworks=Seen(others, _NOTE))
    site = site or site_of(environment)
    metadata = f"{site}/{coming.name.replace('-', '_')}-{coming.version}.dist-info"
    one = Distribution(
        name=coming.name, version=coming.version, site=site, metadata=metadata, kind="wheel", hidden_by=""
    )
    made = PredictedFiles(world.facts, world.matrix)
    paths = made.wheel(site, coming.name, coming.version)
    more = tuple(path for path in recorded if f"{site}/{path}" not in made.libraries)
    for folder, _, name in (path.rpartition("/") for path in more):
        made.library(f"{site}/{folder}", name)
    paths = tuple(dict.fromkeys((*paths, *more)))
    framework = _framework(coming, environment, world, site)
    same = any((one.environment, one.label) == (environment.prefix, coming.label) for one in world.removed)
    if framework and coming.row and not same:  # of the same release the first look has told
        from doctor.prescribe.predicted_dlopens import again, requests  # late: the loader's habits

        own = _own_cudnn(coming.row, framework, made, world.matrix)
        named = requests(coming.row, environment.prefix, own=own)
        opened = again(coming.row, environment.prefix, world.facts, world.matrix)
        world = world._replace(asked=(*world.asked, *named, *opened))
    made.files[f"{metadata}/RECORD"] = "".join(f"{path},,\n" for path in paths).encode()
    world = world.with_changes(made.onto(world.changes))
    environment = environment._replace(
        distributions=Seen(_with(one, environment), _NOTE) if is_listed else environment.distributions,
        overlaps=Seen(_overlaps(environment, coming, paths), _NOTE) if is_listed else environment.overlaps,
        incomplete=_incomplete_without(environment, coming.name),
        native_faults=_faults_without(environment, coming.name),
        unmet=_unmet_without(environment, coming.name),
        half_installed=_half_without(environment, coming.name),
    )
    if framework and framework.package not in {each.package for each in value_or(environment.frameworks, ())}:
        frameworks = (*value_or(environment.frameworks, ()), framework)
        environment = environment._replace(frameworks=Seen(tuple(frameworks), _NOTE))
        world = world._replace(replaced=world.replaced | {(environment.prefix, framework.package)})
    world = world.with_environment(environment)
    tried = value_or(world.facts.imports, ())  # how an import in an environment ends that has changed is not known
    left = tuple(one for one in tried if one.environment != environment.prefix)
    return world if left == tried else world._replace(facts=world.facts._replace(imports=Seen(left, _NOTE)))


def _with(one: Distribution, environment: Environment) -> tuple[Distribution, ...]:
    """With one more; of its name that which lies first on the path counts."""
    found = value_or(environment.distributions, ())
    order = {site: place for place, site in enumerate(value_or(environment.sites, ()))}
    same = [*(other for other in found if other.name == one.name), one]
    first = min(same, key=lambda each: order.get(each.site, len(order)))
    same = [each._replace(hidden_by="" if each is first else first.metadata) for each in same]
    return tuple(sorted((*(other for other in found if other.name != one.name), *same)))


def _recorded(world: SimulatedMachine, environment: Environment, coming: Coming) -> tuple[str, ...]:
    """The libraries of a wheel of NVIDIA's that comes again at the release that is there, by its RECORD."""
    there = next((one for one in value_or(environment.distributions, ()) if one.name == coming.name), None)
    if world.host is None or there is None or there.version != coming.version or not there.name.startswith("nvidia-"):
        return ()
    site = f"{there.site}/"
    paths = (path.removeprefix(site) for path in _files_of(world.host, world.changes, there, ()))
    return tuple(path for path in paths if not path.startswith("/") and re.search(r"\.so(\.\d+)*$", path))


def _own_cudnn(row: FrameworkRow, framework: Framework, made: PredictedFiles, matrix: Matrix) -> bool:
    """The cuDNN inside a package that bundles it, or of which no row says by which wheel it comes; whether it has."""
    pinned = any(name.startswith("nvidia-cudnn") for name in row.pins or ())
    if row.cudnn is None or pinned or _by_extra(row.package) or not brings_libraries(row, matrix):
        return False
    try:
        made.cudnn(f"{framework.path}/lib", CudnnVersion(row.cudnn))
    except Uncovered:
        return False
    return True


def _framework(coming: Coming, environment: Environment, world: SimulatedMachine, site: str) -> Framework | None:
    """The framework that a distribution is; None for a wheel that is none."""
    before = (one for one in world.removed if (one.environment, one.package) == (environment.prefix, coming.name))
    if coming.row is None:
        old = next((one for one in value_or(environment.frameworks, ()) if one.package == coming.name), None)
        return old._replace(version=coming.version) if old else None
    found = framework_of_row(coming.row, coming.spec, environment.prefix, world.matrix, _NOTE)
    code = next((one.fails_unless for one in before if one.version == found.version), ())
    return found._replace(path=f"{site}/{module_of(coming.name)}", note="", fails_unless=code)


def _overlaps(environment: Environment, coming: Coming, paths: tuple[str, ...]) -> tuple[Overlap, ...]:
    """The files that are shared belong to what came last."""
    owner = f"{coming.name} {coming.version}"
    kept = []
    for one in value_or(environment.overlaps, ()):
        others = tuple(each for each in one.owners if each.partition(" ")[0] != coming.name)
        mine = len(others) != len(one.owners)
        kept.append(one._replace(owners=tuple(sorted((*others, owner))), winner=Seen(owner, _NOTE)) if mine else one)
    known = {one.path for one in kept}
    for name, version in _sharing(coming.name, environment).items():
        shared = (path for path in paths if path not in known)
        kept += [Overlap(path, tuple(sorted((owner, f"{name} {version}"))), Seen(owner, _NOTE)) for path in shared]
    return tuple(kept)


def _sharing(name: str, environment: Environment) -> dict[str, str]:
    """The installed wheels of the same library for another CUDA, which keep their files in the same directory."""
    bare = _MAJOR.sub("", name)
    if bare == name or not name.startswith("nvidia-"):
        return {}
    there = _installed(environment).items()
    return {other: version for other, version in there if other != name and _MAJOR.sub("", other) == bare != other}


def with_removed(
    world: SimulatedMachine, environment: Environment, name: str, site: str = ""
) -> tuple[SimulatedMachine, Environment]:
    """Without a distribution and its files, those included that it shared with others; what is not reached stays."""
    named = [one for one in value_or(environment.distributions, ()) if one.name == name]
    gone = [one for one in named if one.site == site or is_reached(one.site, environment)]
    if named and not gone:
        return world, environment
    frameworks = value_or(environment.frameworks, ())
    if world.host is not None:
        changes = world.changes
        for one in gone:
            changes = changes.without(_files_of(world.host, changes, one, frameworks))
        world = world.with_changes(changes)
    environment = environment._replace(
        distributions=Seen(tuple(one for one in value_or(environment.distributions, ()) if one not in gone), _NOTE),
        frameworks=Seen(tuple(one for one in frameworks if one.package != name), _NOTE),
        overlaps=Seen(_left(value_or(environment.overlaps, ()), name), _NOTE),
        incomplete=_incomplete_without(environment, name),
        native_faults=_faults_without(environment, name),
        unmet=_unmet_without(environment, name),
        wheel_requirements=_required_without(environment, name),
        extensions=_extensions_without(environment, name),
    )
    world = world._replace(removed=(*world.removed, *(one for one in frameworks if one.package == name)))
    return world.with_environment(environment), environment


def _unmet_without(environment: Environment, name: str) -> Fact[tuple[Unmet, ...]]:
    """Return what is still required once a distribution of this name is installed."""
    if isinstance(environment.unmet, Unseen):
        return environment.unmet
    return Seen(tuple(one for one in environment.unmet.value if name not in (one.distribution, one.name)), _NOTE)


def _half_without(environment: Environment, name: str) -> Fact[tuple[HalfInstalled, ...]]:
    """Return what is half installed once a distribution is installed whole."""
    if isinstance(environment.half_installed, Unseen):
        return environment.half_installed
    return Seen(tuple(one for one in environment.half_installed.value if one.module != module_of(name)), _NOTE)


def _required_without(environment: Environment, name: str) -> Fact[tuple[WheelRequirement, ...]]:
    """Return who requires NVIDIA's wheels once a distribution is removed."""
    if isinstance(environment.wheel_requirements, Unseen):
        return environment.wheel_requirements
    return Seen(tuple(one for one in environment.wheel_requirements.value if one.distribution != name), _NOTE)


def _incomplete_without(environment: Environment, name: str) -> Fact[tuple[Incomplete, ...]]:
    """What else lacks files of its own."""
    if isinstance(environment.incomplete, Unseen):
        return environment.incomplete
    return Seen(tuple(one for one in environment.incomplete.value if one.distribution != name), _NOTE)


def _faults_without(environment: Environment, name: str) -> Fact[tuple[NativeFault, ...]] | None:
    """The modules of other packages: an installer of the environment brings those for its Python."""
    if environment.native_faults is None or isinstance(environment.native_faults, Unseen):
        return environment.native_faults
    return Seen(tuple(one for one in environment.native_faults.value if one.distribution != name), _NOTE)


def _extensions_without(environment: Environment, name: str) -> Fact[tuple[Extension, ...]]:
    """The GPU code of other packages; what comes instead is unknown before it is there, nor what it defines."""
    if isinstance(environment.extensions, Unseen):
        return environment.extensions
    kept = tuple(one for one in environment.extensions.value if one.distribution != name)
    if traits_of(name).extended:
        kept = tuple(one._replace(lacking=Unseen(f"{name} is not installed yet")) for one in kept)
    return Seen(kept, _NOTE)


def _left(overlaps: tuple[Overlap, ...], name: str) -> tuple[Overlap, ...]:
    kept = []
    for one in overlaps:
        owners = tuple(each for each in one.owners if each.partition(" ")[0] != name)
        if len(owners) > 1:
            kept.append(one._replace(owners=owners))
    return tuple(kept)


def _files_of(host: Host, changes: Changes, one: Distribution, frameworks: tuple[Framework, ...]) -> tuple[str, ...]:
    """The libraries of a distribution by its RECORD, and the whole directory of a framework."""
    folders = tuple(each.path for each in frameworks if each.package == one.name and each.path)
    if folders or not one.name.startswith("nvidia-"):
        return (*folders, one.metadata)
    here = Overlay(host, changes)
    try:
        lines = tuple(lines_of(here, f"{one.metadata}/RECORD", RECORD_AT_MOST_BYTES, RECORD_LINES_AT_MOST))
        site = here.real_path(one.site)
    except HostError:
        return (one.metadata,)
    paths = (listed(line)[0] for line in lines)
    return (one.metadata, *(f"{site}/{path}" for path in paths if path and not path.startswith(("..", "/"))))
