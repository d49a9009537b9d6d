"""Importing a framework fails, or kills its process."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, ChangePackages, InstallPackage, Need
from compat.traits import module_of, traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Import
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import imported, unmet_requirements
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import IMPORTS


def check(tried: Import, facts: Facts, matrix: Matrix) -> Answer:
    """Return BAD for a signal and for an exception; where rules about files find the cause, theirs is the root."""
    if tried.state == "crashed":
        return bad(
            f"import {tried.package} crashes: {_last(tried.detail)}",
            _again(tried, facts),
            evidence=(Evidence(tried.detail, label=f"import of {tried.package} in a subprocess"),),
            explains=_riders(tried, facts),
        )
    if tried.state == "failed":
        return bad(
            f"import {module_of(tried.package)} fails: {_last(tried.detail)}",
            _missing(tried, facts),
            evidence=(Evidence(_in_a_line(tried.detail), label=f"import of {tried.package} in a subprocess"),),
            explains=(*_unmet(tried, facts), *_riders(tried, facts)),
        )
    return ok(f"{tried.package} can be imported" if tried.state == "ok" else "it did not crash")


def _last(detail: str) -> str:
    return detail.strip().rpartition("\n")[2]


def _in_a_line(detail: str) -> str:
    """Where it ended: the last frame of a traceback, and the message."""
    frames = detail.rpartition("\n  File ")
    return " ".join((f"File {frames[2]}" if frames[1] else detail).split())


def _unmet(tried: Import, facts: Facts) -> tuple[Symptom, ...]:
    _, framework = imported(tried, facts)
    unmet = framework is not None and unmet_requirements(framework, facts)
    return (Symptom("companion-version-mismatch", framework.label),) if framework and unmet else ()


def _riders(tried: Import, facts: Facts) -> tuple[Symptom, ...]:
    """The imports that end as this one does, of what imports it: torchvision's, where torch's fails."""
    beside = (one for one in value_or(facts.imports, ()) if one.environment == tried.environment)
    ends = (one for one in beside if one.state == tried.state and _last(one.detail) == _last(tried.detail))
    riders = [one for one in ends if traits_of(one.package).runs_on == tried.package]
    return tuple(Symptom("framework-import-crash", f"import of {one.package} in {one.environment}") for one in riders)


def _missing(tried: Import, facts: Facts) -> Need:
    """Return what the framework requires and is not installed; else how to read the message."""
    environment, framework = imported(tried, facts)
    unmet = unmet_requirements(framework, facts) if framework else ()
    if unmet:
        return ChangePackages(tuple(one.wanted for one in unmet), environment.interpreter)
    command = f"{environment.interpreter} -c 'import {module_of(tried.package)}' 2>&1 | gpudoctor explain"
    return Advice(f"To read the message: {command}")


def _again(tried: Import, facts: Facts) -> Need:
    """A crash without a known cause: the framework's own files come again first, of the same release and build."""
    environment, framework = imported(tried, facts)
    if framework is None:
        return InstallPackage(tried.package, interpreter=environment.interpreter, reinstall=True)
    release, tag = f"=={framework.version.partition('+')[0]}", framework.version.partition("+")[2]
    return InstallPackage(tried.package, release, environment.interpreter, tag, reinstall=not tag)


RULE = Rule(IMPORTS, check)
