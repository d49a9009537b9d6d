"""Compiled modules of packages beside a framework cannot be loaded by this Python on this machine."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, ChangePackages, InstallPackage, InstallSystemLibrary, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, NativeFault, Unloadable
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_REINSTALLED_AT_MOST = 8  # packages; of more, the environment was made for another Python
_SHOWN = 5
_FOLLOWS = ("glibc-too-old", "python-version-no-wheel", "needed-library-missing")


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """An error where importing a framework, or a package that one requires, fails for it; else a warning."""
    if environment.native_faults is None:
        raise NotApplicable("no framework is in it, or its interpreter cannot start")
    frameworks = {one.package: one for one in value_or(environment.frameworks, ())}
    found = sorted(environment.native_faults.get(), key=lambda one: not _stops(one, frameworks))
    if not found:
        return ok("every compiled module that was read can be loaded")
    first = found[0]
    return bad(
        f"{first.label} {_what(first)}{_more(found)}",
        *_needs(found, environment),
        severity=Severity.ERROR if _stops(first, frameworks) else Severity.WARNING,
        evidence=tuple(Evidence(f"{one.label} {_what(one)}", file=one.path) for one in found[:_SHOWN]),
        explains=tuple(
            symptom
            for one in found
            if (framework := frameworks.get(one.distribution))
            for symptom in (*import_symptoms(framework), *(Symptom(code, framework.label) for code in _FOLLOWS))
        ),
    )


def _stops(one: NativeFault, frameworks: object) -> bool:
    return one.is_sure and bool(one.required_by or one.distribution in frameworks)  # type: ignore[operator]


def _what(one: NativeFault) -> str:
    texts = {
        Unloadable.PYTHON: f"has only compiled modules for Python {', '.join(one.what.split())}",
        Unloadable.MACHINE: f"has compiled modules for {one.what}",
        Unloadable.VERSION: f"needs {one.what}, which {one.lacks} does not have",
        Unloadable.LIBRARY: f"needs {one.what}, which was not found",
        Unloadable.NUMPY: f"is compiled for NumPy 1, and NumPy {one.what} is installed",
    }
    return texts[one.why]


def _more(found: list[NativeFault]) -> str:
    return f"; {len(found) - 1} more cannot be loaded either" if len(found) > 1 else ""


def _needs(found: list[NativeFault], environment: Environment) -> tuple[Need, ...]:
    """Return what cures the first, and all that are of its kind."""
    first, python = found[0], environment.interpreter
    same = [one for one in found if one.why is first.why]
    if first.why is Unloadable.LIBRARY:
        return (InstallSystemLibrary(first.what),)
    if first.why is Unloadable.NUMPY:
        return (InstallPackage("numpy", "<2", python), Advice(f"Or install a newer release of {first.distribution}."))
    if first.why is Unloadable.VERSION:
        text = f"Install a release of {first.distribution} that was built for this system, or use a newer system."
        return (Advice(text),)
    if len(same) > _REINSTALLED_AT_MOST:
        return (Advice(f"Create {environment.prefix} again with its own Python, and install the packages again."),)
    barred = {one.distribution for one in value_or(environment.unmet, ()) if one.name == "python"}
    return (ChangePackages(tuple(_requirement(one, barred) for one in same), python),)


def _requirement(one: NativeFault, barred: set[str]) -> str:
    """Return the same release; another, where this one is for other Pythons."""
    return f"{one.distribution}{'!=' if one.distribution in barred else '=='}{one.version}"


RULE = Rule(ENVIRONMENTS, check, blocks_verdict=False)
