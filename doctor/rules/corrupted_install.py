"""A framework, or a wheel that it uses, lacks files that its own list names, or an installer left half of it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from compat.matrix import Matrix
from compat.need import Advice, ChangePackages, InstallPackage, Need
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Environment, Framework, HalfInstalled, Incomplete
from doctor.model.facts.loader import Outcome, Prediction
from doctor.model.facts.seen import Place, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_SHOWN = 3  # files of one package in the evidence
_OF_A_PROCESS = (
    "cuda-library-damaged",
    "cudart-soname-missing",
    "needed-library-missing",
    "nvrtc-missing",
    "tf-cannot-dlopen-gpu-libs",
)
_OF_A_RIDER = ("needed-library-missing", "companion-version-mismatch", "cudart-soname-missing")


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """An error where a process asks for such a file; what nobody asks for may have been left out on purpose."""
    if half := value_or(environment.half_installed, ()):
        return _half(half, environment)
    incomplete = environment.incomplete.get()
    if not incomplete and environment.leftovers and value_or(environment.frameworks, ()):
        return _left(environment.leftovers)
    if not incomplete:
        return ok("all libraries and modules of its frameworks and NVIDIA wheels exist")
    copies = _copies(environment, facts)
    both = (*incomplete, *map(_as_package, copies))
    found = sorted(both, key=lambda one: not _is_used(one, environment, facts))
    return bad(
        f"{_words(found[0])}{_more(found)}",
        _need(found, environment),
        severity=Severity.ERROR if _is_used(found[0], environment, facts) else Severity.WARNING,
        evidence=tuple(_evidence(found, how(environment.incomplete))),
        explains=(
            *_symptoms(found, environment, facts),
            *(Symptom("cudnn-install-incomplete", one.label) for one in copies),
        ),
        places=tuple(path for one in found for path in one.paths),
    )


def _left(found: tuple[str, ...]) -> Answer:
    """Nothing imports them; pip prints a warning for each in every run."""
    names = ", ".join(one.rpartition("/")[2] for one in found[:_SHOWN])
    return bad(
        f"an interrupted pip left {names}: pip ignores it, with a warning in every run",
        Advice(f"Remove {', '.join(found[:_SHOWN])}."),
        severity=Severity.INFO,
        evidence=tuple(Evidence("pip renames what it removes", file=one) for one in found[:_SHOWN]),
    )


def _half(found: tuple[HalfInstalled, ...], environment: Environment) -> Answer:
    """What runs on it cannot be imported either: its libraries look as if the system lacked them."""
    one, names = found[0], {each.distribution for each in found}
    release, _, build = one.version.partition("+")
    riders = [each for each in _frameworks(environment) if traits_of(each.package).runs_on in names]
    places = tuple(path for each in found for path in each.paths)
    return bad(
        f"{one.distribution} is only partly installed and cannot be imported: pip was interrupted",
        InstallPackage(
            one.distribution,
            f"=={release}" if release else "",
            environment.interpreter,
            build,
            reinstall=bool(release) and not build,
        ),
        evidence=tuple(Evidence(f"it has no dist-info: pip does not list {one.module}", path) for path in places),
        explains=(
            *(Symptom(code, each.label) for each in riders for code in _OF_A_RIDER),
            *(symptom for each in riders for symptom in import_symptoms(each)),
            *_import_of(one, environment),
        ),
        places=places,
    )


def _import_of(one: HalfInstalled, environment: Environment) -> tuple[Symptom, ...]:
    subject = f"import of {one.distribution} in {environment.prefix}"
    return Symptom("framework-import-crash", subject), Symptom("framework-import-hang", subject)


def _copies(environment: Environment, facts: Facts) -> tuple[CudnnCopy, ...]:
    """The wheels of cuDNN in it that lost files as well, which have a finding of their own where nothing else did."""
    found = (one for one in value_or(facts.cudnn, ()) if one.environment == environment.prefix)
    return tuple(one for one in found if one.origin == "wheel" and one.owner and value_or(one.missing, ()))


def _as_package(copy: CudnnCopy) -> Incomplete:
    name, _, version = copy.owner.partition(" ")
    return Incomplete(name, version, value_or(copy.missing, ()), ())


def _words(one: Incomplete) -> str:
    first, more = posixpath.basename(one.paths[0]), len(one.paths) - 1
    what = f"its {first} is {'missing' if one.missing else 'cut short'}"
    return f"{one.distribution} {one.version} is damaged: {what}{f', and {more} more' if more else ''}"


def _more(found: list[Incomplete]) -> str:
    others = [one.distribution for one in found[1:]]
    return (
        f"; so is {others[0]}"
        if len(others) == 1
        else (f"; {len(others)} more packages are damaged too")
        if others
        else ""
    )


def _is_used(one: Incomplete, environment: Environment, facts: Facts) -> bool:
    """Whether a process asks for a file of its name in vain, or a framework lacks what lies at its top."""
    names = {posixpath.basename(path) for path in one.paths}
    lost = {each.soname for each in _told(environment, facts) if each.outcome in {Outcome.MISSING, Outcome.DAMAGED}}
    own = next((each for each in _frameworks(environment) if each.package == one.distribution), None)
    return bool(names & lost) or (own is not None and any(_is_at_the_top(path, own) for path in one.paths))


def _is_at_the_top(path: str, framework: Framework) -> bool:
    """torch/_C.*.so, torch/lib/libc10.so, jax_plugins/xla_cuda12/xla_cuda_plugin.so; not torch/bin/x/y.so."""
    below = path.removeprefix(f"{framework.path}/")
    return below != path and below.count("/") <= 1


def _told(environment: Environment, facts: Facts) -> tuple[Prediction, ...]:
    told = value_or(facts.loader.predictions, ())
    return tuple(one for one in told if one.environment == environment.prefix and not one.optional)


def _need(found: list[Incomplete], environment: Environment) -> Need:
    """All files of these very releases again."""
    if len(found) > 1:
        return ChangePackages(tuple(f"{one.distribution}=={one.version}" for one in found), environment.interpreter)
    one = found[0]
    release, _, build = _version(one, environment).partition("+")
    return InstallPackage(one.distribution, f"=={release}", environment.interpreter, build, reinstall=not build)


def _version(one: Incomplete, environment: Environment) -> str:
    """The framework's own word, which has the build: the name of a wheel need not."""
    return next((each.version for each in _frameworks(environment) if each.package == one.distribution), one.version)


def _frameworks(environment: Environment) -> tuple[Framework, ...]:
    return value_or(environment.frameworks, ())


def _evidence(found: list[Incomplete], source: str | Place) -> Iterator[Evidence]:
    for one in found:
        for path in one.missing[:_SHOWN]:
            yield Evidence.at(source, f"{one.distribution} lists {path}, which is missing")
        for path in one.damaged[:_SHOWN]:
            yield Evidence("it is shorter than its headers say", file=path)


def _symptoms(found: list[Incomplete], environment: Environment, facts: Facts) -> Iterator[Symptom]:
    """What a process that asks for one of these files looks like to other rules, where it lacks nothing else."""
    names = {posixpath.basename(path) for one in found for path in one.paths}
    packages = {one.distribution for one in found}
    for framework in _frameworks(environment):
        told = (one for one in _told(environment, facts) if one.asker == framework.package)
        lost = {one.soname for one in told if one.outcome in {Outcome.MISSING, Outcome.DAMAGED}}
        if lost and lost <= names:
            yield from (Symptom(code, framework.label) for code in _OF_A_PROCESS)
        if lost & names or framework.package in packages:
            yield from import_symptoms(framework)


RULE = Rule(ENVIRONMENTS, check)
