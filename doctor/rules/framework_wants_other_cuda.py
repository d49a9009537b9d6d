"""A framework loads CUDA's libraries from outside its package, and the version it needs is not there."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from compat.base.record import NamedTuple
from compat.build import covers, library_sources, name_of, release_key
from compat.matrix import Matrix, Uncovered, accepts, known
from compat.need import ChangePackages, InstallPackage, InstallToolkit, Need
from compat.overlap import NO, overlap
from compat.row import FrameworkRow, LibraryRow
from compat.traits import traits_of
from compat.version import CudaVersion, VersionError
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Place, Seen, Unseen, UnseenError, value_or
from doctor.model.facts.toolkit import Toolkit
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import (
    build_row,
    cuda_need_of,
    finds_wheels,
    installed,
    is_extra_for_libraries,
    nearest_and_newest,
    need_of,
    need_own_cuda,
    other_builds,
    platform_of,
    preload,
)
from doctor.rules.shared.cuda_libraries import (
    known_cuda,
    names_of,
    of_own_cuda,
    own_extra,
    predicted,
    requirement_for,
    wheels_for,
)
from doctor.rules.shared.dlls import astray, if_known, nowhere
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import FRAMEWORKS, environment_of, need_where

_SYMPTOMS = (
    "cudart-soname-missing",
    "nvrtc-missing",
    "tf-cannot-dlopen-gpu-libs",
    "cudnn-missing",
    "cudnn-wrong-major",
    "library-for-other-cuda",
    "wheel-libs-not-on-loader-path",
    "libdevice-not-found",
    "ptxas-missing",
)
_EXTRA = re.compile(r"extra *== *['\"]([^'\"]+)")
_RUNTIME = "nvidia-cuda-runtime"  # the wheel whose version is that of CUDA


class Present(NamedTuple):
    """One CUDA that a process of the environment can find."""

    cuda: CudaVersion
    where: str | Place  # the toolkit's directory, or the wheel


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Compare what the build needs with the toolkits of the machine and the wheels of its environment."""
    need_where(facts, "gpus")
    need_own_cuda(framework)
    if brings_its_own(framework, facts, matrix):
        raise NotApplicable(f"{framework.label} contains the CUDA libraries that it was built with")
    wanted = _wanted(framework, facts, matrix)
    environment = environment_of(framework, facts)
    toolkits = tuple(
        Present(one.cuda.value, Place(one.path))
        for one in facts.toolkit.toolkits.get()
        if isinstance(one.cuda, Seen) and _reaches(one, environment, facts)
    )
    found = (*toolkits, *_wheels(environment))
    fitting = next((one for one in found if accepts(wanted, one.cuda)), None)
    if fitting:
        return ok(f"{framework.label} needs CUDA {_plain(wanted)}: {fitting.cuda} is in {fitting.where}")
    asked = _asked(framework, facts)
    lacks = any(one.missing and isinstance(one.intended, Unseen) for one in asked)
    if asked and not lacks and all(_may_be_of(one.soname, wanted, matrix) for one in asked):
        return ok(f"{framework.label} needs CUDA {_plain(wanted)}: its {names_of(asked)} are installed")
    # Raise UnseenError where a toolkit is there whose version could not be read: it may be the one.
    for toolkit in facts.toolkit.toolkits.get():
        if isinstance(toolkit.cuda, Unseen):
            toolkit.cuda.get()
    if if_known(nowhere, framework, facts) or if_known(astray, framework, facts):
        raise NotApplicable(f"see windows-dll-path and cudart-soname-missing for the DLLs that {framework.label} lacks")
    return _bad(framework, facts, matrix, wanted, found)


def _asked(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """CUDA's libraries that it asks for by name, which holds the major; () where that is not known."""
    try:
        return tuple(one for one in predicted(framework, facts) if ".so." in one.soname)
    except (UnseenError, NotApplicable):
        return ()


def _may_be_of(soname: str, wanted: str, matrix: Matrix) -> bool:
    """Whether a library is of a CUDA that is needed: one that was asked for without a version may be of any."""
    rows: tuple[LibraryRow, ...] = matrix.rows("libraries", "sonames")
    cudas = [row.cuda for row in rows if row.soname == soname]
    return not cudas or any(overlap((cuda, wanted)) != NO for cuda in cudas)


def brings_its_own(framework: Framework, facts: Facts, matrix: Matrix) -> bool:
    """Whether its libraries come in its package, or in wheels that it requires, by an extra only where that is named.

    Where the row of a build does not say, the other builds of that package for the same processor do: no
    torch was ever published for a PC that takes CUDA from the system. Raises UnseenError.
    """
    required = (text.partition(";") for text in value_or(framework.requires, ()))
    markers = [marker for name, _, marker in required if name.startswith(("nvidia-", "cuda-toolkit"))]
    by_extra = (set(extras.split(",")) for one in markers for extras in _EXTRA.findall(one))
    if any("extra" not in one for one in markers) or any(extras <= {*framework.extras} for extras in by_extra):
        return True
    if not matrix.has(framework.package):
        return False
    with suppress(Uncovered):
        own = build_row(framework, facts, matrix).libraries
        if own and not isinstance(framework.requires, Seen):
            return own != "system"
    sources = library_sources(framework.package, (platform_of(facts).arch,), matrix)
    if "system" in sources:
        return False
    return "bundled" in sources or not isinstance(framework.requires, Seen)  # wheels of an extra may not be there


def _wanted(framework: Framework, facts: Facts, matrix: Matrix) -> str:
    try:
        specifier: str = known(build_row(framework, facts, matrix), "cuda")
    except Uncovered:
        if not isinstance(framework.cuda, Seen):
            raise
        return f"=={framework.cuda.value.major}.*"  # the SONAMEs that it asks for have the major alone
    if not specifier:
        raise NotApplicable(f"{framework.label} needs no CUDA")
    return specifier


def _reaches(toolkit: Toolkit, environment: Environment, facts: Facts) -> bool:
    """Not what lies inside another environment, where no process of this one looks."""
    prefixes = [one.prefix for one in facts.environments.get() if one.kind != "system"]
    around = [prefix for prefix in prefixes if f"{toolkit.path}/".startswith(f"{prefix}/")]
    return not around or max(around, key=len) == environment.prefix  # /opt/conda holds /opt/conda/envs/mine


def _wheels(environment: Environment) -> tuple[Present, ...]:
    found = []
    for one in installed(environment):
        if one.name == _RUNTIME or one.name.startswith(f"{_RUNTIME}-cu"):
            try:
                found.append(Present(CudaVersion.parse(one.version), f"{one.name} {one.version}"))
            except VersionError:
                continue  # a stub wheel without libraries ("0.0.1.dev5")
    return tuple(found)


def _bad(framework: Framework, facts: Facts, matrix: Matrix, wanted: str, found: tuple[Present, ...]) -> Answer:
    def fits(row: FrameworkRow) -> bool:
        return any(accepts(row.cuda or "", one.cuda) for one in found)

    wanting = fits if found else _has_all
    rows = nearest_and_newest(other_builds(framework, facts, matrix, wanting))
    rows = (*_sisters(framework, facts, matrix, fits), *rows) if found else ()
    rows = rows[::-1] if _is_asked_by_others(framework) else rows
    here = ", ".join(f"{one.cuda} ({one.where})" for one in found)
    advice = f"; {name_of(rows[0])} {'works with the installed CUDA' if found else 'contains its own'}" if rows else ""
    return bad(
        f"{framework.label} needs CUDA {_plain(wanted)}, but this machine has {here or 'none'}{advice}",
        *_in_order(
            _needs(framework, build_row(framework, facts, matrix), facts, matrix),
            rows,
            framework,
            facts,
        ),
        evidence=(
            Evidence(f"needs CUDA {wanted}", label=f"matrix, {build_row(framework, facts, matrix).id}"),
            *(Evidence.at(one.where, f"CUDA {one.cuda}") for one in found),
        ),
        explains=tuple(Symptom(code, framework.label) for code in _SYMPTOMS),
    )


def _has_all(row: FrameworkRow) -> bool:
    return row.libraries in {"wheels", "bundled"}


def _sisters(
    framework: Framework, facts: Facts, matrix: Matrix, fits: Callable[[FrameworkRow], bool]
) -> tuple[FrameworkRow, ...]:
    """The same release under another name, for another CUDA: cupy-cuda12x for cupy-cuda11x."""
    traits = traits_of(framework.package)
    kin = framework._replace(package=traits.id)  # by its own name it stands for itself alone
    rows = other_builds(kin, facts, matrix, fits) if traits.one_directory else ()
    same = (row for row in rows if row.package != framework.package and covers(row, framework.version))
    return tuple(same)[:1]


def _need_of(row: FrameworkRow, framework: Framework, facts: Facts) -> Need:
    """Without its extra where the wheels of another framework are the CUDA that is here: those stay as they are."""
    environment = environment_of(framework, facts)
    if row.package == framework.package and _is_beside(framework, environment) and not row.package.endswith("-plugin"):
        return ChangePackages((f"{row.package}{row.versions}",), environment.interpreter)
    return need_of(row, framework, facts)


def _is_beside(framework: Framework, environment: Environment) -> bool:
    """Whether another framework has its CUDA from wheels of the environment."""
    others = (one for one in value_or(environment.frameworks, ()) if one != framework)
    return any(isinstance(one.cuda, Seen) for one in others) and bool(_wheels(environment))


def _in_order(
    own: tuple[Need, ...], rows: tuple[FrameworkRow, ...], framework: Framework, facts: Facts
) -> tuple[Need, ...]:
    """The build for the CUDA that is here first where a framework beside it has that CUDA from its wheels.

    So it does where another package asked for the framework: nobody chose its release, and the newest comes first;
    where the same release has a build of another name for the CUDA that is here: cupy-cuda12x for cupy-cuda11x; and
    where that build is a newer release, before wheels of an older CUDA. Wheels that its process finds by itself come
    before both: another package may ask for this name, and the CUDA that is here may be a part of one.
    """
    fitting = tuple(_need_of(row, framework, facts) for row in rows)
    replaces = any(isinstance(one, ChangePackages) and one.remove == (framework.package,) for one in fitting[:1])
    newer = any(release_key(row.versions) > release_key(framework.version) for row in rows[:1])
    beside = _is_beside(framework, environment_of(framework, facts))
    by_wheels = isinstance(own[0], ChangePackages)
    newer = newer and by_wheels and not (finds_wheels(framework) or preload(framework))
    replaces = replaces and not (by_wheels and finds_wheels(framework))
    first = _is_asked_by_others(framework) or replaces or beside or newer
    return (*fitting, *own) if first else (*own, *fitting)


def _is_asked_by_others(framework: Framework) -> bool:
    """Whether it mostly comes with another package; a build for GPUs under a name of its own a person asked for."""
    traits = traits_of(framework.package)
    return traits.dependency and framework.package not in traits.gpu


def _plain(specifier: str) -> str:
    """As a sentence says it: "==12.*" is 12.*."""
    return specifier.removeprefix("==").replace(",", ", ")


def _needs(framework: Framework, row: FrameworkRow, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """Its own extra with the wheels, else the wheels of what it lacks; and a toolkit of the version it needs.

    A CUDA of the system's comes last: it needs root, and more of the machine changes. Wheels of two CUDA releases do
    not go into one environment.
    """
    toolkit = InstallToolkit(known(row, "cuda"))
    if framework.package.endswith("-plugin"):
        return cuda_need_of(framework.package, framework, facts), toolkit
    if is_extra_for_libraries(framework) and row.pins:
        python = environment_of(framework, facts).interpreter
        return InstallPackage(framework.package, f"=={framework.version}", python), toolkit
    lost = tuple(one for one in _asked(framework, facts) if one.missing and isinstance(one.intended, Unseen))
    lost = of_own_cuda(lost, framework, facts, matrix)
    if not lost or (_wheels(environment_of(framework, facts)) and not _is_asked_by_others(framework)):
        return (toolkit,)
    wheels = own_extra(framework, facts, matrix) or wheels_for(lost, framework, facts, matrix)
    return (*_with_headers(wheels, framework, facts, matrix), toolkit)


def _with_headers(needs: tuple[Need, ...], framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """The wheel with CUDA's headers along with the others, where code is compiled with those that wheels bring.

    Source: cupy_cuda12x-14.2.0: METADATA (its extra ctk has cudart), cupy/_core/include/cupy/float16.cuh.
    """
    cuda = known_cuda(framework, facts, matrix)
    first = next(iter(needs), None)
    if not (isinstance(first, ChangePackages) and cuda and finds_wheels(framework)):
        return needs
    headers = requirement_for(f"libcudart.so.{cuda.major}", framework, facts, matrix)
    more = (headers,) if headers and traits_of(framework.package).compiles and headers not in first.install else ()
    return (first._replace(install=(*first.install, *more)), *needs[1:])


RULE = Rule(FRAMEWORKS, check)
