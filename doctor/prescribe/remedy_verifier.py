"""Whether a remedy fixes what it is given for: the rules judge the facts as they would be after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from compat.base.discover import load_one
from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.host import Host
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Severity, Status
from doctor.prescribe import effects as effects_package
from doctor.prescribe.simulated_machine import SimulatedMachine, reprobe
from doctor.rules.shared.engine import Rules, judge, root_causes

if TYPE_CHECKING:
    from doctor.prescribe.dependents import Dependents, Unmet
    from doctor.prescribe.preflight import Obstacles
    from installers.effect import Effect
    from installers.plan import Plan, Target

_Key = tuple[str, str]  # code and subject


class Verdict(NamedTuple):
    """What the rules say of a remedy."""

    proven: bool  # the finding is gone, what it explains is gone, and nothing new is wrong
    stands: tuple[Answer, ...] = ()  # what would still be wrong of it
    new: tuple[Answer, ...] = ()  # what would be wrong then, and is not now
    left_open: str = ""  # what is unknown before it is done
    behind: tuple[Answer, ...] = ()  # of its code, what asks for something else: the rule had named another fault first

    @property
    def faults(self) -> int:
        """How much is left."""
        return len(self.stands) + len(self.new)

    def roots(self, answer: Answer) -> tuple[Answer, ...]:
        """What is left beside the finding itself, without what another of it explains."""
        left = [one for one in (*self.stands, *self.new) if one.code != answer.code or one in self.behind]
        symptoms = root_causes(left)
        return tuple(one for one in left if _key(one) not in symptoms)


class RemedyVerifier:
    """Judges remedies of one report; the same effects are judged once."""

    def __init__(
        self, facts: Facts, answers: tuple[Answer, ...], matrix: Matrix, rules: Rules, host: Host | None
    ) -> None:
        """`answers` are those of the rules about the machine as it is."""
        self._start = SimulatedMachine(facts, matrix, host)
        self._rules = rules
        self._bad = {_key(one): one for one in _wrong(answers)}
        self._general = {facts.machine.label, *(one.label for one in value_or(facts.environments, ()))}
        self._causes = root_causes(answers)
        self._seen: dict[tuple[Effect, ...], tuple[Facts, tuple[Answer, ...], Mapping[str, str]]] = {}
        self._obstacles: Obstacles | None = None
        self._dependents: Dependents | None = None

    @property
    def has_host(self) -> bool:
        """Whether the machine can be looked at again; a saved report or a text cannot."""
        return self._start.host is not None

    def can_judge(self, answer: Answer) -> bool:
        """Whether the finding is one that a rule found: what a library answered when it was run is not."""
        return answer.code in self._rules

    def verdict(self, answer: Answer, effects: tuple[Effect, ...]) -> Verdict:
        """What becomes of a finding after these effects."""
        _, after, names = self._after(effects)
        named = {_key(one, names): one for one in after if one.kind is Status.BAD}
        named = {key: one for key, one in named.items() if one.severity is not Severity.INFO or key == _key(answer)}
        own = {_key(answer)} | {key for key, root in self._causes.items() if _key(root) == _key(answer)}
        others = {_key(one, names): cause for one, cause in _causes_of(after)}
        stands = tuple(
            one for key, one in named.items() if key in own and _key(others.get(key, one)) not in self._bad.keys() - own
        )
        new = tuple(one for one in _wrong(after) if self._is_new(one, names))
        unknown = (one for one in after if one.kind is Status.UNKNOWN and one.code == answer.code)
        left_open = [one.why for one in unknown if _key(one, names) == _key(answer)]
        before = [one.needs for one in self._bad.values() if one.code == answer.code]
        behind = tuple(one for one in (*stands, *new) if one.code == answer.code and one.needs not in before)
        told = answer.subject == self._start.facts.machine.label or not left_open  # of a machine only running it tells
        proven = told and not stands and not new
        return Verdict(proven=proven, stands=stands, new=new, left_open="; ".join(left_open), behind=behind)

    def _is_new(self, one: Answer, names: Mapping[str, str]) -> bool:
        """Whether it was not wrong before.

        About a machine or an environment one rule has one answer, whatever is wrong there: that is another fault where
        it names what was not named before.
        """
        before = self._bad.get(_key(one, names))
        if before is None:
            return True
        return one.subject in self._general and not _places(one, names) <= _places(before)

    def compared(self, effects: tuple[Effect, ...]) -> tuple[tuple[Answer, ...], tuple[Answer, ...]]:
        """Return what would be wrong then and is not now, root causes only, and what is wrong now and would not be."""
        _, after, names = self._after(effects)
        wrong = _wrong(after)
        symptoms = root_causes(after)
        new = tuple(one for one in wrong if self._is_new(one, names) and _key(one) not in symptoms)
        then = {_key(one, names) for one in wrong}
        return new, tuple(one for key, one in self._bad.items() if key not in then and key not in self._causes)

    def every_broken_by(self, effects: tuple[Effect, ...]) -> tuple[Unmet, ...]:
        """Return what installed packages require, frameworks too, and would have no more."""
        if self._start.host is None:
            return ()
        from doctor.prescribe.dependents import Dependents  # late, as obstacles

        found = Dependents(self._start.host).every_broken(
            self._start.facts, self.facts_after(effects), of_frameworks=True
        )
        return tuple(found)

    def facts_after(self, effects: tuple[Effect, ...]) -> Facts:
        """What a second look would see."""
        return self._after(effects)[0]

    def broken_by(self, effects: tuple[Effect, ...]) -> str:
        """What another package asks for and would have no more, as a clause; "" for nothing."""
        if self._start.host is None:
            return ""
        if self._dependents is None:
            from doctor.prescribe.dependents import Dependents  # late, as obstacles

            self._dependents = Dependents(self._start.host)
        return self._dependents.broken(self._start.facts, self.facts_after(effects))

    def with_lines(self, plan: Plan, target: Target) -> Plan:
        """The plan, with the lines of the user's scripts that it edits, as they are on this machine."""
        from installers.steps.remove_from_path import RemoveFromPath
        from installers.steps.set_variable import SetVariable
        from installers.steps.unset_variable import UnsetVariable

        kinds = (RemoveFromPath, SetVariable, UnsetVariable)
        if self._start.host is None or not any(isinstance(step, kinds) for step in plan.steps):
            return plan
        from doctor.prescribe.shell_lines import with_edited_lines  # late, as obstacles

        return with_edited_lines(plan, self._start.facts, self._start.host, target)

    def with_obstacles(self, plan: Plan) -> Plan:
        """The plan, with what its commands meet on this machine said first."""
        if self._start.host is None:
            return plan
        from installers.effect import EnvironmentMade

        if self._obstacles is None:
            from doctor.prescribe.preflight import Obstacles  # late: only a remedy that is given pays for it

            self._obstacles = Obstacles(self._start.host, self._start.matrix)
        made = any(isinstance(one, EnvironmentMade) for one in plan.effects or ())
        return self._obstacles.named_in(plan, self.facts_after(plan.effects or ()) if made else self._start.facts)

    def _after(self, effects: tuple[Effect, ...]) -> tuple[Facts, tuple[Answer, ...], Mapping[str, str]]:
        if effects not in self._seen:
            facts = after(effects, self._start)
            answers = judge(facts, self._start.matrix, self._rules)
            self._seen[effects] = facts, answers, _names(self._start.facts, facts)
        return self._seen[effects]


def after(effects: Iterable[Effect], world: SimulatedMachine) -> Facts:
    """The facts after these effects, in their order."""
    for effect in effects:
        world = applied(effect, world)
    return reprobe(world)


def applied(effect: Effect, world: SimulatedMachine) -> SimulatedMachine:
    """What one effect makes of a machine; raises DataError for a kind that no module knows."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(effect).__name__).lower()
    changed: SimulatedMachine = load_one(effects_package, name, "apply", FunctionType)(effect, world)
    return changed


def _causes_of(answers: tuple[Answer, ...]) -> list[tuple[Answer, Answer]]:
    causes = root_causes(answers)
    return [(one, causes[_key(one)]) for one in answers if one.kind is Status.BAD and _key(one) in causes]


def _wrong(answers: Iterable[Answer]) -> list[Answer]:
    """What is wrong and more than information."""
    return [one for one in answers if one.kind is Status.BAD and one.severity is not Severity.INFO]


def _key(answer: Answer, names: Mapping[str, str] | None = None) -> _Key:
    return answer.code, (names or {}).get(answer.subject, answer.subject)


def _names(before: Facts, then: Facts) -> dict[str, str]:
    """What things are called afterwards, and were called before: the same package, directory or copy.

    What is still there under its own name is not what another thing is called.
    """
    now = dict.fromkeys(label for _, label in _labels(then))
    old = {place: label for place, label in _labels(before) if label not in now}
    return {label: old[place] for place, label in _labels(then) if place in old}


_NUMBER = re.compile(r"(?<=\.so)[.\d]+$")  # at the end of a library's name; another release has another one


def _places(answer: Answer, names: Mapping[str, str] = MappingProxyType({})) -> set[str]:
    """The files, directories and copies that an answer is about, called as they were before."""
    found = (*answer.places, *(each.file for each in answer.evidence if each.file))
    return {names.get(one, _NUMBER.sub("", one)) for one in found}


def _labels(facts: Facts) -> Iterable[tuple[tuple[str, ...], str]]:
    for environment in value_or(facts.environments, ()):
        for framework in value_or(environment.frameworks, ()):
            yield ("framework", environment.prefix, framework.package), framework.label
    for copy in value_or(facts.cudnn, ()):
        yield ("cudnn", copy.path), copy.label
    for toolkit in value_or(facts.toolkit.toolkits, ()):
        yield ("toolkit", toolkit.path), toolkit.label
