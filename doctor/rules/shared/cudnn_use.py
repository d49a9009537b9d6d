"""Which copy of cuDNN a framework was built for and loads, what a copy lacks, and how it is fixed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from compat.matrix import Matrix, Uncovered, accepts
from compat.need import (
    Advice,
    ChangePackages,
    ClearVariable,
    DropFromPath,
    InstallCudnn,
    InstallPackage,
    InstallSystemPackage,
    MoveFilesAside,
    Need,
)
from compat.row import FrameworkRow
from compat.specifier import keeps
from compat.traits import traits_of
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Distribution, Environment, Framework
from doctor.model.facts.loader import FoundBy, Prediction, SearchDir
from doctor.model.facts.seen import Seen, Unseen, UnseenError, value_or
from doctor.model.finding import Severity
from doctor.rules.shared.builds import build_row, cuda_of, need_own_cuda, other_builds
from doctor.rules.shared.nvidia_wheels import pins_of
from doctor.rules.shared.rule import NotApplicable
from doctor.rules.shared.subjects import FRAMEWORKS, environment_of

_WAYS_AT_MOST = 3
_OF_WINDOWS = ("c:/windows/system32", "c:/windows")
_WHEEL = re.compile(r"nvidia-cudnn-cu\d+")
_WHEELS_DIRECTORY = re.compile(r"/nvidia/cudnn/(?:lib|bin|bin/x64)$")
_JIT_LACKS = "engines_precompiled"  # NVIDIA's JIT edition of cuDNN ships without this part
_JIT_HAS = ("libcudnn.so.", "libcudnn_graph.so.", "libcudnn_engines_runtime_compiled.so.")  # nvidia-cudnn-jit-cu12 9.27


def built_for(framework: Framework, facts: Facts, matrix: Matrix) -> Seen[CudnnVersion]:
    """The cuDNN that a framework was compiled against; raises NotApplicable where it uses none, Uncovered."""
    need_own_cuda(framework)
    skip_unless_cudnn_used(framework, facts)
    return compiled_with(framework, facts, matrix)


def compiled_with(framework: Framework, facts: Facts, matrix: Matrix) -> Seen[CudnnVersion]:
    """The same, whether or not anything here shows that it is used."""
    if isinstance(framework.cudnn, Seen):
        return _with_minor(framework, framework.cudnn, facts, matrix)
    if not matrix.has(framework.package):
        raise NotApplicable(f"{framework.package} is not known to use cuDNN itself")
    row = build_row(framework, facts, matrix)
    if row.cudnn_accepts == "":
        raise NotApplicable(f"{framework.label} needs no cuDNN")
    version = row.cudnn or _oldest(row.cudnn_accepts or "")
    if version is None:
        raise UnseenError(f"the cuDNN that {framework.label} was built with is unknown")
    return Seen(version, f"matrix, {row.id}")


def _with_minor(framework: Framework, said: Seen[CudnnVersion], facts: Facts, matrix: Matrix) -> Seen[CudnnVersion]:
    """TensorFlow says a major alone ("8"), and checks the minor when it starts: the matrix knows that."""
    if len(said.value) > 1:
        return said
    try:
        row = build_row(framework, facts, matrix)
    except (Uncovered, UnseenError):
        return said
    floor = _oldest(row.cudnn_accepts or "") or row.cudnn
    fits = floor is not None and floor.major == said.value.major and len(floor) > 1
    return Seen(floor, f"matrix, {row.id}") if fits and floor is not None else said


def _oldest(specifier: str) -> CudnnVersion | None:
    """The oldest release that a specifier of one major accepts: what it was built with is not older than that."""
    bound = re.search(r">=\s*(\d+(?:\.\d+)*)", specifier)
    if not bound:
        return None
    oldest = CudnnVersion.parse(bound[1])
    return None if accepts(specifier, CudnnVersion((oldest.major + 1,))) else oldest


def skip_unless_cudnn_used(framework: Framework, facts: Facts) -> None:
    """Raise NotApplicable for one that loads cuDNN only for another package, where that is not installed.

    CuPy does so for Chainer (its installation guide, "Additional CUDA Libraries"). Beside torch the release it was
    built with is mostly not there, and nothing is wrong.
    """
    users = traits_of(framework.package).cudnn_with
    if users:
        names = {one.name for one in value_or(environment_of(framework, facts).distributions, ())}
        if names.isdisjoint(users):
            raise NotApplicable(f"{framework.label} uses cuDNN only if a program needs it")


def predictions(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """What the loader does when this framework asks for cuDNN, and cuDNN for its parts; raises UnseenError."""
    told = predictions_for(framework, facts)
    found = tuple(one for one in told if "cudnn" in one.soname.lower())
    if not found:
        for one in told:
            if not one.soname:
                one.path.get()  # the process could not be followed to where it may ask
    return found


def need_to_ask(framework: Framework, facts: Facts) -> None:
    """Raise NotApplicable where a library that is not found ends the process before it asks for cuDNN."""
    before = next((one.soname for one in predictions_for(framework, facts) if one.missing and not one.optional), "")
    if before:
        raise NotApplicable(f"{framework.label} stops before it needs cuDNN: {before} was not found")


def predictions_for(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """All predictions of a framework's process; raises UnseenError."""
    environment, package = framework.environment, framework.package
    told = facts.loader.predictions.get()
    return _asked_for([one for one in told if one.asker == package and one.environment == environment])


def _asked_for(told: list[Prediction]) -> tuple[Prediction, ...]:
    """Without a preloaded cuDNN of another major beside the one that is asked for: both are mapped, each for its own.

    The names of cuDNN's functions carry its SONAME as their version (readelf -V, libcudnn.so.8 of 8.5.0.96).
    """
    mains = [one for one in told if is_main(one.soname)]
    preloaded = {_major_in(one) for one in mains if one.way and one.way.rule is FoundBy.PRELOAD}
    asked = {_major_in(one) for one in mains} - preloaded
    return tuple([one for one in told if not (asked and _major_in(one) in preloaded)])


def _major_in(one: Prediction) -> str:
    return one.soname.rpartition(".so.")[2]


def main_predictions(framework: Framework, facts: Facts) -> tuple[Prediction, ...]:
    """Those of the main library alone; raises UnseenError."""
    return tuple(one for one in predictions(framework, facts) if is_main(one.soname))


def is_main(name: str) -> bool:
    """Whether a library's name is the main library's, not a part's."""
    return re.match(r"libcudnn[.-]|cudnn64_", name.lower()) is not None


def prediction(framework: Framework, facts: Facts) -> Prediction:
    """The prediction that decides which cuDNN works; raises UnseenError.

    From cuDNN 8 on that is the one of its first part: the main library only opens it, by name, in a search of its
    own, and even the version that it reports is the part's.
    """
    found = sorted(predictions(framework, facts), key=lambda one: (not isinstance(one.path, Seen), is_main(one.soname)))
    if not found:
        need_to_ask(framework, facts)
        raise UnseenError(f"the files of {framework.label} do not show which cuDNN it loads")
    if is_lone_main(found, framework):
        raise NotApplicable(f"{framework.label} has only cuDNN's main library: see cudnn-sublibrary-missing")
    return found[0]


def is_lone_main(told: Sequence[Prediction], framework: Framework) -> bool:
    """Whether a framework's own wheel holds cuDNN's main library, and not one of its parts is found."""
    site = framework.path.rpartition("/")[0]
    mains = [one for one in told if is_main(one.soname) and isinstance(one.path, Seen)]
    parts = [one for one in told if not is_main(one.soname)]
    own = bool(site) and any(one.path.get().startswith(f"{site}/{framework.package}.libs/") for one in mains)
    return own and bool(parts) and all(one.missing for one in parts)


def copy_of(path: str, facts: Facts) -> CudnnCopy | None:
    """The copy that a library file belongs to; raises UnseenError where the copies were not seen."""
    copies = facts.cudnn.get()
    for copy in copies:
        if any(part.path == path for part in value_or(copy.parts, ())):
            return copy
    return next((copy for copy in copies if copy.path == posixpath.dirname(path)), None)


def loaded_copy(framework: Framework, facts: Facts) -> CudnnCopy:
    """The copy that a framework loads; raises UnseenError where that was unknown, or nothing answers."""
    path = prediction(framework, facts).path.get()
    copy = copy_of(path, facts)
    if copy is None:
        raise UnseenError(f"{path} is not a cuDNN copy that was read")
    return copy


def others_in_reach(framework: Framework, built: CudnnVersion, facts: Facts) -> tuple[CudnnCopy, ...]:
    """Copies in reach, where every one of a known release is of another major; none where one fits."""
    reach = [
        copy
        for copy in facts.cudnn.get()
        if value_or(copy.parts, ())
        and (copy.environment == framework.environment or isinstance(copy.search_rank, Seen))
    ]
    if any(value_or(copy.version, built).major == built.major for copy in reach):
        return ()
    return tuple(reach)


def loaders_of(copy: CudnnCopy, facts: Facts) -> tuple[Framework, ...]:
    """The frameworks that load this copy, as far as that is known."""
    found = []
    for framework in _frameworks(facts):
        try:
            told = predictions(framework, facts)
        except UnseenError:
            continue
        paths = [one.path.value if isinstance(one.path, Seen) else one.damaged for one in told]
        if any(copy_of(path, facts) == copy for path in paths if path):
            found.append(framework)
    return tuple(found)


def _frameworks(facts: Facts) -> tuple[Framework, ...]:
    try:
        return tuple(FRAMEWORKS.of(facts))
    except UnseenError:
        return ()


def severity_of(copy: CudnnCopy, facts: Facts) -> Severity:
    """A fault of a copy stops the frameworks that load it; nobody yet where none does."""
    return Severity.ERROR if loaders_of(copy, facts) else Severity.WARNING


def searched(facts: Facts) -> tuple[CudnnCopy, ...]:
    """The copies whose directory the loader searches for every process, first to last; raises UnseenError."""
    ranked = [(copy.search_rank.value, copy) for copy in facts.cudnn.get() if isinstance(copy.search_rank, Seen)]
    return tuple(copy for _, copy in sorted(ranked, key=lambda pair: pair[0]))


def variable_of(copy: CudnnCopy, facts: Facts) -> str:
    """The variable that brings a copy's directory into the search, "" where none does."""
    entry = _variable_entry(copy, facts)
    return entry.why.variable if entry else ""


def _variable_entry(copy: CudnnCopy, facts: Facts) -> SearchDir | None:
    """By its spelling, else by its place: the loader searches a variable's directories before all others."""
    entries = [one for one in value_or(facts.loader.search, ()) if one.why.variable]
    exact = next((one for one in entries if one.path.rstrip("/") == copy.path), None)
    rank = value_or(copy.search_rank, len(entries))
    return exact or (entries[rank] if rank < len(entries) else None)


def set_in(name: str, facts: Facts) -> str:
    """Where a variable is set, "" where that is not known."""
    return next((one.set_in for one in value_or(facts.configuration.variables, ()) if one.name == name), "")


def drop_from_path_need(copy: CudnnCopy, variable: str, facts: Facts) -> Need:
    """The need to take a copy's directory out of a variable; from a directory that others need there, its files."""
    shared = move_aside_need(copy, facts)
    if shared:
        return shared
    entry = _variable_entry(copy, facts)
    written = (entry.written or entry.path) if entry else copy.path
    place = entry.set_in if entry else set_in(variable, facts)
    return DropFromPath(variable, written, place)


def is_of_windows(copy: CudnnCopy) -> bool:
    """Whether a copy lies among Windows' own files, which are searched before Path."""
    return copy.path.lower() in _OF_WINDOWS


def move_aside_need(copy: CudnnCopy, facts: Facts) -> Need | None:
    """The need to put a copy's DLLs aside where they lie among Windows' or a toolkit's; None elsewhere."""
    parts = value_or(copy.parts, ())
    if value_or(facts.system.family, "") != "windows" or not parts:
        return None
    toolkits = {value_or(one.library_dir, "") for one in value_or(facts.toolkit.toolkits, ())}
    if not is_of_windows(copy) and copy.path not in toolkits:
        return None
    first = parts[0].path.rpartition("/")[2]
    return MoveFilesAside(f"{copy.path}/{first}", f"cudnn*64_{first.rpartition('_')[2]}")


def out_of_variable(found: Prediction) -> Need | None:
    """The need to take out of its variable what led to a file; None where no variable did."""
    way = found.way
    if way is None or not found.variable:
        return None
    if way.rule is FoundBy.PRELOAD and way.set_in:
        return Advice(f"Remove {way.entry} from {way.set_in}.")
    if way.rule is FoundBy.PRELOAD:
        return ClearVariable(found.variable)
    if not way.entry:
        return Advice(f"Remove the empty entry (the current directory) from {found.variable}.")
    return DropFromPath(found.variable, way.entry, way.set_in)


def part_names(copy: CudnnCopy) -> frozenset[str]:
    """The names by which a copy's libraries are asked for, lower case; raises UnseenError."""
    return frozenset(part.name.lower() for part in copy.parts.get())


def need_parts(copy: CudnnCopy) -> None:
    """Raise NotApplicable for a copy that is a header alone."""
    if not copy.parts.get():
        raise NotApplicable(f"{copy.path} has only a header")


def lacking(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    """The libraries that a copy should have and has not; raises UnseenError, Uncovered.

    The package that owns it knows best; else the release's own list counts. A framework may ship fewer on purpose.
    """
    if copy.owner or copy.origin == "framework":
        return tuple(name for name in map(posixpath.basename, value_or(copy.missing, ())) if _is_library(name))
    if isinstance(copy.version, Unseen):
        lacks = _surely_lacking(copy, facts, matrix)
        family, majors = facts.system.family.get(), _majors(copy)
        if lacks or (majors and all(matrix.cudnn_is_uniform(major, family) for major in majors)):
            return lacks
    row = matrix.cudnn(copy.version.get())
    windows = facts.system.family.get() == "windows"
    listed = row.parts_windows if windows else row.parts_linux
    if listed is None:
        raise UnseenError(f"the matrix does not list the libraries of cuDNN {row.version}")
    there = part_names(copy)
    main = () if windows else (row.soname,)
    lacks = tuple(name for name in (*main, *listed) if name.lower() not in there)
    return () if is_jit_edition(copy) or (len(lacks) == 1 and _JIT_LACKS in lacks[0]) else lacks


def _surely_lacking(copy: CudnnCopy, facts: Facts, matrix: Matrix) -> tuple[str, ...]:
    """What every release of its major has: the main library of 9 does not say its release, and cannot be alone."""
    there, majors = part_names(copy), _majors(copy)
    if len(majors) != 1 or is_jit_edition(copy):
        return ()
    always = matrix.cudnn_always(majors.pop(), facts.system.family.get())
    lacks = tuple(name for name in always if name.lower() not in there)
    return () if len(lacks) == 1 and _JIT_LACKS in lacks[0] else lacks


def _majors(copy: CudnnCopy) -> set[int]:
    """By the names of its libraries."""
    return {int(found[1]) for name in part_names(copy) if (found := re.search(r"(?:\.so\.|64_)(\d+)", name))}


def is_jit_edition(copy: CudnnCopy) -> bool:
    """Whether it has the files of NVIDIA's JIT edition, and no others; raises UnseenError."""
    there = part_names(copy)
    return len(there) == len(_JIT_HAS) and all(any(map(one.startswith, _JIT_HAS)) for one in there)


def _is_library(name: str) -> bool:
    """Whether programs open it: not a header, nor the name without a version, which only linkers ask for."""
    lowered = name.lower()
    return "cudnn" in lowered and (".so." in lowered or lowered.endswith(".dll"))


def reinstall_need(copy: CudnnCopy, facts: Facts) -> InstallPackage | InstallSystemPackage | InstallCudnn:
    """The need to have this copy whole again, through whatever put it there."""
    name, _, version = copy.owner.partition(" ")
    around = _environment(copy, facts)
    interpreter = around.interpreter if around else ""
    if copy.origin in {"wheel", "framework"} and name and interpreter:
        return InstallPackage(name, f"=={version}" if version else "", interpreter, reinstall=True)
    if not name and (wheel := _put_over(copy, facts)):
        return InstallPackage(wheel.name, f"=={wheel.version}", interpreter, reinstall=True)
    if copy.origin == "distribution" and name:
        return InstallSystemPackage(name, reinstall=True)
    release, majors = value_or(copy.version, None), _majors(copy) if isinstance(copy.parts, Seen) else set()
    of_major = f"=={majors.pop()}.*" if len(majors) == 1 else ""
    return InstallCudnn(f"=={release.release}" if release else of_major, copy.path, _cuda_around(copy, facts))


def _put_over(copy: CudnnCopy, facts: Facts) -> Distribution | None:
    """The wheel in whose directory files of another release are in place of its own; None without a pip to ask.

    Wheels for two CUDAs share the directory: the one that a framework there requires comes back.
    """
    around = _environment(copy, facts)
    if around is None or not around.interpreter or not _WHEELS_DIRECTORY.search(copy.path):
        return None
    wheels = (one for one in value_or(around.distributions, ()) if _WHEEL.fullmatch(one.name) and not one.hidden_by)
    asked = {pin_of(one)[0] for one in value_or(around.frameworks, ())}
    return max(wheels, key=lambda one: (copy.path.startswith(f"{one.site}/"), one.name in asked), default=None)


def _cuda_around(copy: CudnnCopy, facts: Facts) -> str:
    """The CUDA that a copy was built for, else that of the toolkit in which it lies; "" where neither is known."""
    if major := value_or(copy.cuda_major, 0):
        return str(major)
    around = (one for one in value_or(facts.toolkit.toolkits, ()) if copy.path.startswith(f"{one.path}/"))
    return next((str(one.cuda.value) for one in around if isinstance(one.cuda, Seen)), "")


def _environment(copy: CudnnCopy, facts: Facts) -> Environment | None:
    """The environment in which a copy lies; None for one of the system, and where it was not looked at."""
    found = (one for one in value_or(facts.environments, ()) if one.prefix == copy.environment)
    return next(found, None) if copy.environment else None


def pin_of(framework: Framework) -> tuple[str, str]:
    """The cuDNN wheel that a framework always requires, and the specifier: ("nvidia-cudnn-cu12", "==9.10.2.21")."""
    for text in value_or(framework.requires, ()):
        requirement, _, marker = text.partition(";")
        found = re.match(r"\s*(nvidia-cudnn-cu\d+)\s*\(?\s*([^()\s]*)", requirement)
        if found and "extra" not in marker:
            return found[1], found[2]
    return "", ""


def right_copies(framework: Framework, built: CudnnVersion, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """What brings the cuDNN that a framework was built for, best first: the wheel that it asks for, the system's copy.

    Wheels come first: they need no root, and change this environment only.
    """
    name, specifier = pin_of(framework)
    if name:
        return (wheel_need(name, specifier, framework, facts),)
    system = _of_the_system(framework, built, facts, matrix)
    asked = (one for one in pins_of(framework, facts, matrix) if _WHEEL.fullmatch(one.name))
    wheels = tuple(wheel_need(one.name, one.specifier, framework, facts) for one in asked)
    return tuple(dict.fromkeys((*wheels, system)))[:_WAYS_AT_MOST]


def right_copy(framework: Framework, built: CudnnVersion, facts: Facts, matrix: Matrix) -> Need:
    """The first of them."""
    return right_copies(framework, built, facts, matrix)[0]


def is_shared(copy: CudnnCopy, framework: Framework, facts: Facts) -> bool:
    """Whether another framework of the environment requires the wheel that is there."""
    beside = value_or(environment_of(framework, facts).frameworks, ())
    return copy.origin == "wheel" and any(one != framework and pin_of(one)[0] for one in beside)


def releases_made_for(copy: CudnnCopy, framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Need, ...]:
    """The nearest release of the framework that takes this cuDNN, and the nearest that needs none.

    That one first where its wheel has the main library inside: the next release will not find the parts either.

    Raises UnseenError where the release of the copy is not known.
    """
    release = copy.version.get().release

    def takes(row: FrameworkRow) -> bool:
        return bool(row.cudnn_accepts) and accepts(row.cudnn_accepts or "", release)

    def needs_none(row: FrameworkRow) -> bool:
        return row.cudnn_accepts == ""

    ways = (needs_none, takes) if is_lone_main(predictions(framework, facts), framework) else (takes, needs_none)
    found = (other_builds(framework, facts, matrix, fits)[:1] for fits in ways)
    # without its extra, whose pins would take the place of theirs
    python = environment_of(framework, facts).interpreter
    return tuple(ChangePackages((f"{row.package}{row.versions}",), python) for rows in found for row in rows)


def wheel_need(name: str, specifier: str, framework: Framework, facts: Facts) -> Need:
    """The wheel; all its files again where one is listed that fits: a plain install would call that satisfied."""
    environment = environment_of(framework, facts)
    there = next((one.version for one in value_or(environment.distributions, ()) if one.name == name), "")
    if there and keeps(specifier, there):
        return InstallPackage(name, f"=={there}", environment.interpreter, reinstall=True)
    return InstallPackage(name, specifier, environment.interpreter)


def _of_the_system(framework: Framework, built: CudnnVersion, facts: Facts, matrix: Matrix) -> Need:
    """For the CUDA that the framework was built with, and for no other, whatever the driver runs."""
    floor = ".".join(map(str, built[:2]))
    major = _cuda_major(framework, facts, matrix)
    if not major:
        text = f"Install cuDNN {floor} or newer (below {built.major + 1}) for the CUDA of {framework.label}."
        return Advice(text)
    return InstallCudnn(f">={floor},<{built.major + 1}", _directory_on_path(major, facts), str(major))


def _directory_on_path(major: int, facts: Facts) -> str:
    """The first directory on Path of a toolkit of a CUDA major: where cuDNN's DLLs go on Windows; "" elsewhere."""
    if value_or(facts.system.family, "") != "windows":
        return ""
    of_major = {
        value_or(one.library_dir, "")
        for one in value_or(facts.toolkit.toolkits, ())
        if isinstance(one.cuda, Seen) and one.cuda.value.major == major
    }
    return next((one.path for one in value_or(facts.loader.search, ()) if one.path in of_major), "")


def _cuda_major(framework: Framework, facts: Facts, matrix: Matrix) -> int:
    """The CUDA major of a build, 0 if unknown."""
    try:
        return cuda_of(framework, facts, matrix).value.major
    except (Uncovered, UnseenError, NotApplicable):
        named = re.search(r"cu(?:da)?(1[1-9])", framework.package)
        return int(named[1]) if named else 0
