"""Which environments of an image its own PATH or command selects: what is wrong in another one is information."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Status

FOUND = "root"  # why an environment is looked at that was only found among the files


def by_selection(answers: tuple[Answer, ...], facts: Facts) -> tuple[Answer, ...]:
    """Return the answers; those about environments that nothing selects neither accuse nor leave a doubt.

    Only where the selected environment holds a framework: a script may select another one than PATH does.
    """
    environments = value_or(facts.environments, ())
    selected = [one for one in environments if one.asked_by != FOUND]
    if not any(value_or(one.frameworks, ()) for one in selected):
        return answers
    others = _labels(one for one in environments if one.asked_by == FOUND) - _labels(selected)
    return tuple(_as_information(one, selected[0]) if one.subject in others else one for one in answers)


def _labels(environments: Iterable[Environment]) -> set[str]:
    found: set[str] = set()
    for one in environments:
        found |= {one.label, *(each.label for each in value_or(one.frameworks, ()))}
        found |= {each.label for each in value_or(one.extensions, ())}
    return found


def _as_information(answer: Answer, selected: Environment) -> Answer:
    if answer.kind is not Status.BAD:
        return answer._replace(blocks_verdict=False)
    evidence = Evidence(f"the image selects {selected.prefix}: {selected.asked_by}")
    return answer._replace(severity=Severity.INFO, evidence=(*answer.evidence, evidence))
