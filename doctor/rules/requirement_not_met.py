"""An installed package requires another one, or a Python, that is not there in such a release."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, ChangePackages, Need
from compat.traits import is_known
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment, Unloadable, Unmet
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_SHOWN = 5


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """A warning where a framework is required, else information; frameworks' own requirements have another rule."""
    frameworks = {one.package for one in value_or(environment.frameworks, ())}
    if not frameworks:
        raise NotApplicable("no framework is in it")
    faults = value_or(environment.native_faults, ()) if environment.native_faults else ()
    told = {one.distribution for one in faults if one.why is Unloadable.PYTHON}
    found = [
        one
        for one in environment.unmet.get()
        if one.distribution not in frameworks and not (one.name == "python" and one.distribution in told)
    ]
    if not found:
        return ok("every installed package has what it requires")
    found.sort(key=lambda one: _severity(one).rank)
    more = f"; {len(found) - 1} more requirements are not met" if len(found) > 1 else ""
    return bad(
        f"{_text(found[0])}{more}",
        _need(found, environment),
        severity=_severity(found[0]),
        evidence=tuple(Evidence.at(one.source, _text(one)) for one in found[:_SHOWN]),
    )


def _severity(one: Unmet) -> Severity:
    return Severity.WARNING if is_known(one.name) or one.name == "python" else Severity.INFO


def _text(one: Unmet) -> str:
    if one.name == "python":
        return f"{one.distribution} requires Python {one.specifier}; this is Python {one.there}"
    there = f"{one.there} is installed" if one.there else "it is not installed"
    return f"{one.distribution} requires {one.wanted}; {there}"


def _need(found: list[Unmet], environment: Environment) -> Need:
    """Return one command for what is not installed; of another release, a package may not be changed for one alone."""
    first = found[0]
    if first.name == "python":
        return Advice(f"Install a release of {first.distribution} for Python {first.there}.")
    lacking = tuple(dict.fromkeys(one.wanted for one in found if not one.there))
    if not first.there:
        return ChangePackages(lacking, environment.interpreter)
    return Advice(
        f"Install a release of {first.distribution} that fits {first.name} {first.there}, or {first.wanted} if no "
        "other package needs the present release."
    )


RULE = Rule(ENVIRONMENTS, check, blocks_verdict=False)
