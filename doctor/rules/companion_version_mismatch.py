"""A companion package and its framework do not fit: another release than its metadata asks for, or another build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.record import NamedTuple
from compat.build import oldest_cuda
from compat.matrix import Matrix, Uncovered
from compat.need import Advice, ChangePackages, DropFromPath, InstallPackage, Need
from compat.row import AbiRow, FrameworkRow
from compat.specifier import keeps
from compat.traits import traits_of
from compat.version import CudaVersion, VersionError
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Framework, Variable
from doctor.model.facts.seen import Place, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import (
    build_row,
    distribution_of,
    fits_dependents,
    import_symptoms,
    installed,
    need_of,
    other_builds,
    unmet_requirements,
)
from doctor.rules.shared.pins import Pin, applies, pin, release_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import LISTED_FRAMEWORKS, environment_of

_PYTHON_OF_CUDA = {"cuda-bindings", "cuda-core", "cuda-pathfinder", "cuda-python"}  # a wheel asks for a range of them
_NONE = CudaVersion(0, 0)  # of a build that is for no CUDA


class Breach(NamedTuple):
    """What does not fit, and what fixes it."""

    text: str
    evidence: Evidence
    severity: Severity
    need: Need


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """Hold the metadata of what runs on a framework, and of the framework, against the other one that is there.

    What is compiled against one release of it (its followers) also carries the tag of one build.
    """
    pairs = tuple(_pairs(framework, facts, matrix))
    tagged, absent = tuple(_tagged(framework, facts)), tuple(_absent(framework, facts, matrix))
    if not pairs and not tagged and not absent:
        raise NotApplicable(f"{framework.label} requires no installed companion")
    found = [*absent, *_of_releases(framework, pairs, facts, matrix), *_of_builds(framework, tagged, facts, matrix)]
    if not found:
        return ok(f"{framework.label} fits {', '.join(sorted({one.name for _, one, _ in pairs} | {*_names(tagged)}))}")
    found.sort(key=lambda one: one.severity is not Severity.ERROR)
    mixing = _mixing(framework, {one.there.name for one in pairs} | {*_names(tagged)}, facts)
    return bad(
        "; ".join((*(f"PYTHONPATH adds {one.entry}" for one in mixing), *(one.text for one in found))),
        *_needs(found, mixing),
        severity=found[0].severity,
        evidence=(
            *(Evidence(f"{one.variable.name}={one.variable.value}", label=one.variable.set_in) for one in mixing),
            *(one.evidence for one in found),
        ),
        explains=tuple(_symptoms(framework, facts, matrix, found[0].severity)),
    )


class Mixing(NamedTuple):
    """A directory of PYTHONPATH that has one of two packages that do not fit; the environment has the other."""

    variable: Variable
    entry: str  # as it is written


def _mixing(framework: Framework, related: set[str], facts: Facts) -> list[Mixing]:
    """What of another environment PYTHONPATH puts before this one's packages, which fit each other perhaps."""
    environment = environment_of(framework, facts)
    both = [one for one in _frameworks(framework, facts) if one.package in {framework.package, *related} and one.path]
    found = []
    for variable in (one for one in value_or(facts.configuration.variables, ()) if one.name == "PYTHONPATH"):
        for entry in variable.value.split(";" if value_or(facts.system.family, "") == "windows" else ":"):
            folder = entry.replace("\\", "/").rstrip("/")
            inside = [one for one in both if folder and one.path.startswith(f"{folder}/")]
            if not folder.startswith(f"{environment.prefix}/") and 0 < len(inside) < len(both):
                found.append(Mixing(variable, entry))
    return found


def _needs(found: list[Breach], mixing: list[Mixing]) -> tuple[Need, ...]:
    """Another release would fit the directory of PYTHONPATH, and break the environment without it."""
    out = [DropFromPath(one.variable.name, one.entry, one.variable.set_in) for one in mixing]
    return tuple(out) or tuple(dict.fromkeys(one.need for one in found))


def _symptoms(framework: Framework, facts: Facts, matrix: Matrix, severity: Severity) -> Iterator[Symptom]:
    """That its libraries were built for another torch or CUDA, and lack some; an error also keeps it from an import.

    Of several followers that do not fit the first one is named: one remedy brings them all.
    """
    for base in _frameworks(framework, facts):
        for one in _others_wrong(framework, base.package, facts, matrix):
            if one.package > framework.package:
                yield Symptom("companion-version-mismatch", one.label)
                for code in ("extension-built-for-other-torch", "extension-built-for-other-cuda"):
                    yield Symptom(code, f"{one.package} {one.version.partition('+')[0]}")
                yield Symptom("needed-library-missing", one.label)
    if severity is Severity.ERROR:
        yield from import_symptoms(framework)
    own = distribution_of(framework, facts)
    for code in ("extension-built-for-other-torch", "extension-built-for-other-cuda"):
        yield Symptom(code, f"{own.name} {own.version}" if own else framework.label)
    yield Symptom("needed-library-missing", framework.label)  # where this is an error as well


def _names(bases: tuple[Framework, ...]) -> Iterator[str]:
    return (one.package for one in bases)


def _is_follower(framework: Framework, base: str) -> bool:
    return framework.package in traits_of(base).followers


# Releases


class Pair(NamedTuple):
    """A requirement, what is there of it, and what says it."""

    asked: Pin
    there: Distribution
    source: str | Place


def _pairs(framework: Framework, facts: Facts, matrix: Matrix) -> Iterator[Pair]:
    """Requirements on what it runs on, or on what runs on it, that is installed; raises UnseenError.

    What its libraries were compiled for is one as well, where a row knows more than its metadata.
    """
    environment = environment_of(framework, facts)
    related = {one.name: one for one in installed(environment) if _are_related(framework.package, one.name)}
    for text in framework.requires.get() if related else ():
        asked = pin(text)
        if asked and asked.name in related and not asked.optional and applies(asked, facts.system, environment):
            yield Pair(asked, related[asked.name], how(framework.requires))
    rows = matrix.abi(framework.package, framework.version, value_or(facts.system.family, "linux")) if related else ()
    for row in rows:
        for name, wanted in row.needs.items():
            if name in related:
                yield Pair(Pin(name, wanted, ""), related[name], f"matrix, {row.id}: {row.source}")


def _absent(framework: Framework, facts: Facts, matrix: Matrix) -> Iterator[Breach]:
    """Yield what a wheel always requires and is not installed: torch's triton, which compiles, and typing-extensions.

    A sister of it under another name counts; NVIDIA's wheels have rules of their own. Raises UnseenError.
    """
    environment = environment_of(framework, facts)
    own = distribution_of(framework, facts)
    if own is None or own.kind != "wheel" or framework.is_planned:  # an installer brings them with it
        return
    there = {traits_of(one.name).id for one in installed(environment)}
    for asked in filter(None, map(pin, framework.requires.get())):
        traits = traits_of(asked.name)
        if traits.runs_on != framework.package or traits.id in there or asked.optional:
            continue
        if applies(asked, facts.system, environment):
            compiles = f": code that {framework.package} compiles with it will fail" if traits.compiles else ""
            yield Breach(
                f"{framework.label} needs {asked.name}{asked.specifier}, which is not installed{compiles}",
                Evidence.of(framework.requires, f"{asked.name}{asked.specifier}"),
                Severity.WARNING,
                InstallPackage(asked.name, asked.specifier, environment.interpreter),
            )
    yield from _unmet(framework, facts, matrix)


def _unmet(framework: Framework, facts: Facts, matrix: Matrix) -> Iterator[Breach]:
    """Yield what an import needs and is not there, each of them, and in one sentence what it may need.

    One command brings all of them.
    """
    rows = matrix.abi(framework.package, framework.version, facts.system.family.get())
    unmet = unmet_requirements(framework, facts)
    yield from _unsaid(framework, rows, {one.name for one in unmet}, facts)
    limits = {one.name: ",".join(filter(None, (row.needs.get(one.name, "") for row in rows))) for one in unmet}
    spelled = tuple(f"{one.name}{limits[one.name]}" if limits[one.name] else one.wanted for one in unmet)
    python = environment_of(framework, facts).interpreter
    need: Need = ChangePackages(spelled, python)
    if len(unmet) == 1 and limits[unmet[0].name]:  # more than its metadata says: NumPy's ABI
        need = InstallPackage(unmet[0].name, limits[unmet[0].name], python)
    for one in (one for one in unmet if one.there):
        text = f"{framework.label} needs {one.wanted}; {one.there} is installed: importing it may fail"
        yield Breach(text, Evidence.at(one.source, one.wanted), Severity.WARNING, need)
    for one in (one for one in unmet if one.imported_at and not one.there):
        fails = f"{framework.label} cannot be imported: {one.wanted} is not installed"
        yield Breach(fails, Evidence.at(one.imported_at or one.source, one.wanted), Severity.ERROR, need)
    if others := [one for one in unmet if not (one.imported_at or one.there)]:
        names = ", ".join(one.wanted for one in others)
        which = "which is not installed" if len(others) == 1 else "which are not installed"
        text = f"{framework.label} needs {names}, {which}: importing it may fail"
        yield Breach(text, Evidence.at(others[0].source, names), Severity.WARNING, need)


def _unsaid(framework: Framework, rows: tuple[AbiRow, ...], said: set[str], facts: Facts) -> Iterator[Breach]:
    """Yield what it imports, its metadata does not ask for, and is not installed."""
    environment = environment_of(framework, facts)
    there = {one.name for one in installed(environment)} | said | {"python", "glibc"}
    for row in rows:
        for name in [one for one, wanted in row.needs.items() if not wanted and one not in there]:
            yield Breach(
                f"{framework.label} needs {name}, which is not installed: {row.effect}",
                Evidence(f"{row.package} {row.versions}: {row.source}", label=f"matrix, {row.id}"),
                Severity(row.severity),
                InstallPackage(name, "", environment.interpreter),
            )


def _are_related(one: str, other: str) -> bool:
    if other in _PYTHON_OF_CUDA:
        return True
    return one != other and (traits_of(one).runs_on == other or traits_of(other).runs_on == one)


def _of_releases(framework: Framework, pairs: tuple[Pair, ...], facts: Facts, matrix: Matrix) -> Iterator[Breach]:
    for (asked, there, source), own in _unkept(framework, pairs, facts):
        yield Breach(
            f"{framework.label} requires {asked.name}{asked.specifier}; {own} is installed",
            Evidence.at(source, f"{asked.name}{asked.specifier}"),
            Severity.ERROR if _is_follower(framework, there.name) else Severity.WARNING,
            _need(framework, asked, own, facts, matrix),
        )


def _unkept(framework: Framework, pairs: Iterable[Pair], facts: Facts) -> Iterator[tuple[Pair, str]]:
    """Requirements that what is there does not keep to, and its own version."""
    for pair in pairs:
        there = pair.there
        own = next((one.version for one in _frameworks(framework, facts) if one.package == there.name), there.version)
        # a build of one's own, 2.10.0a0+git1234, stands for its release
        if not any(keeps(pair.asked.specifier, version) for version in (there.version, own, release_of(own))):
            yield pair, own


def _others_wrong(framework: Framework, base: str, facts: Facts, matrix: Matrix) -> list[Framework]:
    """Further followers of the same framework that do not fit it; none where this is no follower, or does."""
    beside = [one for one in _frameworks(framework, facts) if _is_follower(one, base)]
    wrong = [one for one in beside if _is_wrong(one, base, facts, matrix)]
    return [one for one in wrong if one != framework] if framework in wrong else []


def _is_wrong(framework: Framework, base: str, facts: Facts, matrix: Matrix) -> bool:
    pairs = [one for one in _pairs(framework, facts, matrix) if one.there.name == base]
    tagged = [one for one in _tagged(framework, facts) if one.package == base]
    return any(_unkept(framework, pairs, facts)) or any(_unlike(framework, tagged))


def _frameworks(framework: Framework, facts: Facts) -> tuple[Framework, ...]:
    return value_or(environment_of(framework, facts).frameworks, ())


def _need(framework: Framework, asked: Pin, there: str, facts: Facts, matrix: Matrix) -> Need:
    """What rides is changed and what it rides on stays, for more depends on that."""
    python = environment_of(framework, facts).interpreter
    if traits_of(asked.name).runs_on == framework.package or asked.name in _PYTHON_OF_CUDA:
        return InstallPackage(asked.name, asked.specifier, python)
    if _is_follower(framework, asked.name):
        return _anew(framework, asked.name, facts, matrix)
    base = next((one for one in _frameworks(framework, facts) if one.package == asked.name), None)

    def fits(row: FrameworkRow) -> bool:
        wanted, cuda = (row.pins or {}).get(asked.name), base and value_or(base.cuda, None)
        return (
            wanted is not None
            and keeps(wanted, release_of(there))
            and (cuda is None or oldest_cuda(row, matrix).major == cuda.major)
        )

    for row in other_builds(framework, facts, matrix, fits, driver=False):
        return InstallPackage(framework.package, row.versions, python)
    for abi in matrix.compiled_for(framework.package, asked.name, release_of(there)):
        return InstallPackage(framework.package, abi.versions, python)
    if base and (back := _base_back(framework, base, asked, facts, matrix)):
        return back
    return Advice(f"install the {framework.package} version for {asked.name} {there}")


def _base_back(framework: Framework, base: Framework, asked: Pin, facts: Facts, matrix: Matrix) -> Need | None:
    """What it runs on, at the release that it was made for and of its CUDA, where no release of it is made for this."""
    try:
        own = oldest_cuda(build_row(framework, facts, matrix), matrix)
    except (Uncovered, NotApplicable):
        return None
    environment = environment_of(framework, facts)

    def fits(row: FrameworkRow) -> bool:
        near = (
            keeps(asked.specifier, release_of(row.versions.lstrip("="))) and oldest_cuda(row, matrix).major == own.major
        )
        return near and fits_dependents(row, base, environment)

    rows = other_builds(base, facts, matrix, fits)
    same = [row for row in rows if row.build == value_or(base.build, "")]
    return next((need_of(row, base, facts) for row in (*same, *rows)), None)


def _anew(framework: Framework, base: str, facts: Facts, matrix: Matrix) -> Need:
    """The follower's release and build that go with its framework, which the resolver chooses.

    Where the follower is not published for a CUDA as new, the framework comes in the follower's newest build.
    """
    leader = next((one for one in _frameworks(framework, facts) if one.package == base), None)
    build, python = value_or(leader.build, "") if leader else "", environment_of(framework, facts).interpreter
    if leader and (others := _others_wrong(framework, base, facts, matrix)):
        builds = (_newest_up_to(build, one.package, matrix) for one in (framework, *others))
        return InstallPackage(
            base, f"=={release_of(leader.version)}", python, min(builds, key=lambda one: _cuda(one) or _NONE)
        )
    newest = _newest_up_to(build, framework.package, matrix)
    if leader and newest != build:
        return InstallPackage(base, f"=={release_of(leader.version)}", python, newest)
    return InstallPackage(framework.package, interpreter=python, build=build)


def _newest_up_to(build: str, follower: str, matrix: Matrix) -> str:
    """The build of the framework, or the newest of a follower that has none as new."""
    newest, ours = matrix.newest_build(follower), _cuda(build)
    return newest if newest and ours and ours > CudaVersion.from_tag(newest) else build


# Builds


def _tagged(framework: Framework, facts: Facts) -> Iterator[Framework]:
    """What a follower with the tag of a build follows."""
    if _kind(framework.version.partition("+")[2]):
        yield from (one for one in _frameworks(framework, facts) if _is_follower(framework, one.package))


def _kind(tag: str) -> str:
    """What a build is for, "" for a tag that does not say so: that of a build of one's own."""
    return next((kind for kind in ("cpu", "cu", "rocm", "xpu") if tag.startswith(kind)), "")


def _of_builds(framework: Framework, bases: tuple[Framework, ...], facts: Facts, matrix: Matrix) -> Iterator[Breach]:
    tag = framework.version.partition("+")[2]
    for base in _unlike(framework, bases):
        build = base.build.get()
        yield Breach(
            f"{framework.label} is built for {_words(tag)}, {base.label} for {_words(build)}",
            Evidence.of(base.build, f"{base.label} is built for {_words(build)}"),
            Severity.WARNING if tag == "cpu" else Severity.ERROR,
            _anew(framework, base.package, facts, matrix),
        )


def _unlike(framework: Framework, bases: Iterable[Framework]) -> Iterator[Framework]:
    """Those of another build."""
    tag, same_minor = framework.version.partition("+")[2], traits_of(framework.package).same_minor
    for base in bases:
        if _kind(base.build.get()) and not _fits(tag, base.build.get(), same_minor=same_minor):
            yield base


def _fits(tag: str, build: str, *, same_minor: bool) -> bool:
    """Another minor of the same CUDA major is let pass where the package's own test of it does, when it is imported."""
    if _kind(tag) != _kind(build):
        return False
    ours, theirs = _cuda(tag), _cuda(build)
    return not ours or not theirs or ours == theirs or (ours.major == theirs.major and not same_minor)


def _cuda(tag: str) -> CudaVersion | None:
    try:
        return CudaVersion.from_tag(tag)
    except VersionError:
        return None


def _words(tag: str) -> str:
    cuda = _cuda(tag) if tag.startswith("cu") else None
    return f"CUDA {cuda}" if cuda else {"cpu": "the CPU", "xpu": "Intel GPUs"}.get(tag, tag)


RULE = Rule(LISTED_FRAMEWORKS, check, blocks_verdict=False)
