"""`gpudoctor install NAME`: which distribution is meant, and whether its release was built for the CUDA asked for."""

from __future__ import annotations

import re

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import default_build
from compat.matrix import Matrix, accepts
from compat.need import ChangePackages, InstallPackage, Need
from compat.platform import absent, unpublished
from compat.row import FrameworkRow, WheelIndexRow
from compat.solve.candidates import solvable
from compat.spec import Spec
from compat.target import TargetMachine
from compat.traits import traits_of
from doctor.commands.install.package_solve import Solved, known_name, solved, surroundings
from doctor.model.facts import Facts
from installers.choose import plan_for
from installers.methods.wheel import interpreter, is_distribution
from installers.plan import Plan, Target
from installers.requirement import requirement_of
from installers.steps.by_hand import ByHand
from installers.steps.note import Note


class WrongPackage(GpudoctorError):
    """Not a distribution, not a release of one, or a build that nobody made."""


class PackageOrder(NamedTuple):
    """What was asked for."""

    name: str
    version: str = ""  # "" for the newest that fits
    cuda: str = ""  # "" for the build that fits
    any_name: bool = False  # also a name or a release that the matrix does not know: --any


def package_plan(asked: PackageOrder, target: Target, facts: Facts | None, matrix: Matrix) -> tuple[Plan, Need]:
    """The steps, and the distribution that must be there afterwards; raises WrongPackage, NoSuchName, NotSolved.

    Without a CUDA version, the release and build that fit the machine and what is installed there.
    """
    _require_a_name(asked.name)
    version, _, local = asked.version.partition("+")
    _require_a_release(version)
    name, cuda = asked.name, asked.cuda
    if local.startswith("cu") and not cuda:
        cuda = _spoken_build(local)
    if not asked.any_name:
        name = known_name(name)
        if not cuda and solvable(matrix, name):
            asked_for = Spec(name, f"=={version}" if version else "", "", ())
            return solved_plan(solved(asked_for, *surroundings(target, facts), matrix), target, matrix)
    return _asked_plan(name, version, cuda, target, matrix)


def solved_plan(found: Solved, target: Target, matrix: Matrix) -> tuple[Plan, Need]:
    """The plan for what the solver found, after what is unknown of it."""
    if found.row and (instead := unpublished(found.row, matrix)):
        raise WrongPackage(f"pip has no {found.name}{found.versions} with GPU code: {instead}")
    need = InstallPackage(found.name, found.versions, target.python, found.build)
    plan = plan_for(_with_pins(found, need), target, matrix)
    doubts = tuple(Note(f"unknown for {found.name}{found.versions}: {one}") for one in found.doubts)
    return plan._replace(steps=(*doubts, *plan.steps)), need._replace(interpreter=interpreter(target), build="")


def _with_pins(found: Solved, need: InstallPackage) -> Need:
    """All in one command where a library is held to a release, or pip would bring its newest."""
    if not found.pins or found.row is None:
        return need
    return ChangePackages((requirement_of(found.row, found.versions), *found.pins), need.interpreter)


def _asked_plan(name: str, version: str, cuda: str, target: Target, matrix: Matrix) -> tuple[Plan, Need]:
    """The plan for this very build, if somebody made it."""
    cuda = ".".join(cuda.split(".")[:2])
    name = _wheel_for(name, cuda, target)
    rows = _rows(name, version, target, matrix)
    default = default_build(name, version, target.os_family, target.arch, matrix) if rows else None
    known = _known(name, version, rows, default, matrix)
    if cuda:
        # Raise WrongPackage if a row says that there is no CUDA build of the release for the target's platform.
        where = TargetMachine(os_family=target.os_family, arch=target.arch)
        missing = absent(name, f"=={version}", where, matrix) if version else None
        if missing:
            raise WrongPackage(missing.summary)
    what = f"{name} {version}".strip()
    if cuda and not known:
        raise WrongPackage(f"the CUDA of {what} is unknown: choose a known version, or omit --cuda-version")
    if cuda and not any(_is_for(spec, cuda) for spec in known):
        listed = ", ".join(sorted({spec.removeprefix("==").removesuffix(".*") for spec in known}, key=_numbers))
        raise WrongPackage(f"{what} has no build for CUDA {cuda}, only for {listed}")
    build = _build(name, version, cuda, known, matrix)
    need = InstallPackage(name, f"=={version}" if version else "", target.python, build)
    plan = plan_for(need, target, matrix)
    without = () if cuda else _without_cuda(f"{name} {version}", default, target, tagged=_has_own_index(name, matrix))
    steps = (*without, *plan.steps)
    return plan._replace(steps=steps), need._replace(interpreter=interpreter(target), build="")


def _require_a_name(name: str) -> None:
    if is_distribution(name):
        return
    apart = re.match(r"([A-Za-z0-9][\w.-]*)\s*===?\s*([\w.+]+)", name)
    if apart:
        raise WrongPackage(
            f"{name!r}: write the version as a separate word, as in gpudoctor install {apart[1]} {apart[2]}"
        )
    raise WrongPackage(f"{name!r} is not a package name such as torch")


def _require_a_release(version: str) -> None:
    from packaging.version import Version  # late: only plans need it

    try:
        Version(version or "0")
    except ValueError as error:  # InvalidVersion, and what int() says of 5,000 digits
        raise WrongPackage(f"{version!r} is not a version such as 2.9.1") from error


def _spoken_build(build: str) -> str:
    """The CUDA version of a build's name: "12.8" for "cu128"."""
    digits = build.removeprefix("cu")
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) > 1 else digits


def _wheel_for(name: str, cuda: str, target: Target) -> str:
    """The wheel for a CUDA major, where a name of its own has it: `cupy` itself is compiled against a toolkit here."""
    traits = traits_of(name)
    asked = traits.asked_as.get(name, "")
    if "{major}" not in asked or "[" in asked:  # an extra: the distribution keeps its name
        return name
    wheel = asked.format(major=cuda.partition(".")[0] or target.cuda_major)
    if wheel in traits.gpu:
        return wheel
    newest = " or ".join(reversed(traits.gpu[:2]))
    raise WrongPackage(f"{name} has no wheel for this version: choose one with a wheel, {newest}")


def _rows(name: str, version: str, target: Target, matrix: Matrix) -> tuple[FrameworkRow, ...]:
    """The builds of a release for the target's platform; none where no row knows them."""
    if not version or not matrix.has(name):
        return ()
    rows: tuple[FrameworkRow, ...] = matrix.rows(name, "builds")
    fits = [row for row in rows if target.os_family in row.os and target.arch in row.arch]
    return tuple(row for row in fits if accepts(row.versions, version))


def _known(
    name: str, version: str, rows: tuple[FrameworkRow, ...], default: FrameworkRow | None, matrix: Matrix
) -> frozenset[str]:
    """Specifiers of the CUDA versions that a release is built for; none where no row knows.

    The index of a CUDA version has wheels for x86_64 Linux. For a platform whose default is a CPU build, only the rows
    of that platform tell what it has.
    """
    named = re.fullmatch(r"[\w-]+-cuda(\d+)x", name)
    own = {f"=={named[1]}.*"} if named else set()
    built = {row.cuda for row in rows if row.cuda}
    served = set() if built and default and default.build == "cpu" else _served(name, version, matrix)
    return frozenset(built | served | _plugins(name, version, matrix) | own)


def _build(name: str, version: str, cuda: str, known: frozenset[str], matrix: Matrix) -> str:
    """What tells this build from others where it is served; "" for a release with one build, and for any build."""
    if cuda and "{major}" in traits_of(name).asked_as.get(name, ""):
        return f"cuda{cuda.partition('.')[0]}"
    if _has_own_index(name, matrix) and cuda.isdigit():  # a major alone: the newest of its builds
        cuda = max((spec.removeprefix("==") for spec in known if _is_for(spec, cuda)), key=_numbers)
    build = f"cu{cuda.replace('.', '')}"
    rows: tuple[WheelIndexRow, ...] = matrix.rows("index", "wheels")
    own = [row for row in rows if row.package == name and row.build == build]
    return build if any(not version or accepts(row.versions, version) for row in own) else ""


def _served(name: str, version: str, matrix: Matrix) -> set[str]:
    """The CUDA versions of the builds that a framework's own index serves."""
    if not traits_of(name).tagged:
        return set()
    rows: tuple[WheelIndexRow, ...] = matrix.rows("index", "wheels")
    own = [row for row in rows if row.package == name and row.build.startswith("cu")]
    return {f"=={_spoken_build(row.build)}" for row in own if not version or accepts(row.versions, version)}


def _plugins(name: str, version: str, matrix: Matrix) -> set[str]:
    """The CUDA majors that a framework of the same release has a plugin for, in one release or in any."""
    found = set()
    for plugin in traits_of(name).gpu:
        major = re.search(r"-cuda(\d+)-plugin$", plugin)
        rows: tuple[FrameworkRow, ...] = matrix.rows(plugin, "builds") if major else ()
        if major and any(not version or accepts(row.versions, version) for row in rows):
            found.add(f"=={major[1]}.*")
    return found


def _has_own_index(name: str, matrix: Matrix) -> bool:
    """Whether an index of its own serves builds under versions that name them: 2.9.1+cu128."""
    return traits_of(name).tagged and any(row.package == name for row in matrix.rows("index", "wheels"))


def _is_for(spec: str, cuda: str) -> bool:
    """A major alone, "12", is met by each of its minors."""
    return accepts(spec, cuda) or (cuda.isdigit() and re.search(rf"(?<![\d.]){cuda}(?![\d])", spec) is not None)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _without_cuda(what: str, default: FrameworkRow | None, target: Target, *, tagged: bool) -> tuple[ByHand, ...]:
    """Return a word where the package index serves a CPU build: nobody asks a doctor of GPUs for that."""
    if default is None or default.cuda != "":
        return ()
    text = f"{what} from the package index has no CUDA on {target.os_family}"
    if tagged:
        return (ByHand(text, "--cuda-version X.Y selects a build from its own index"),)
    return (ByHand(text, default.note),)
