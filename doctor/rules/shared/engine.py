"""Ask every rule, and find the root causes among what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compat.base.discover import code_of, load_one, names_in
from compat.matrix import Matrix, Uncovered
from doctor import rules as rules_package
from doctor.model.facts import Facts
from doctor.model.facts.failure import Failure
from doctor.model.facts.seen import Seen, UnseenError
from doctor.model.finding import Answer, Status, Symptom, failed, not_applicable, unknown
from doctor.rules.shared.rule import NotApplicable, Rule

Rules = Mapping[str, Rule[Any]]
_OF_BUILDS = ("dockerfile-", "lock-")  # rules about a Dockerfile or a lock file


def codes() -> tuple[str, ...]:
    """The codes of all rules, without loading any."""
    return tuple(sorted(map(code_of, names_in(rules_package))))


class _Rules(Mapping[str, Rule[Any]]):
    """Rules by code, each loaded when it is first asked: most checks ask none about a Dockerfile or a lock file."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._codes: dict[str, Rule[Any] | None] = dict.fromkeys(sorted(wanted))

    def __getitem__(self, code: str) -> Rule[Any]:
        rule = self._codes[code]
        if rule is None:
            rule = self._codes[code] = load_one(rules_package, code.replace("-", "_"), "RULE", Rule)
        return rule

    def __contains__(self, code: object) -> bool:
        return code in self._codes

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __len__(self) -> int:
        return len(self._codes)


def load_rules(wanted: Iterable[str] | None = None) -> Rules:
    """The rules with these codes (all by default), by code."""
    return _Rules(codes() if wanted is None else wanted)


def judge(facts: Facts, matrix: Matrix, rules: Rules) -> tuple[Answer, ...]:
    """Return each rule's answer about each of its subjects, sorted by code and subject.

    What is not known and our own faults become answers, too.
    """
    answers: list[Answer] = []
    for code in rules:
        if code.startswith(_OF_BUILDS) and not isinstance(facts.dockerfile, Seen):
            none = not_applicable("only for a Dockerfile")
            answers.append(none._replace(code=code, subject=facts.machine.label))
            continue
        rule = rules[code]
        try:
            subjects = list(rule.subjects.of(facts))
        except UnseenError as error:
            answers.append(_signed(unknown(str(error), error.why_not), code, rule, facts.machine.label))
            continue
        if not subjects:
            none = not_applicable(f"no {rule.subjects.kind} was found")
            answers.append(_signed(none, code, rule, facts.machine.label))
        for subject in subjects:
            try:
                answer = rule.check(subject, facts, matrix)
            except NotApplicable as reason:
                answer = not_applicable(str(reason))
            except UnseenError as error:
                answer = unknown(str(error), error.why_not)
            except Uncovered as error:
                answer = unknown(str(error))
            except Exception as error:  # noqa: BLE001 - a rule that fails is a finding, never our crash
                answers.append(failed(Failure.of(f"{code} rule", error)))
                continue
            answers.append(_signed(answer, code, rule, subject.label))
    return tuple(sorted(answers, key=lambda answer: (answer.code, answer.subject)))


def _signed(answer: Answer, code: str, rule: Rule[Any], subject: str) -> Answer:
    return answer._replace(code=code, subject=subject, blocks_verdict=rule.blocks_verdict and answer.blocks_verdict)


def root_causes(answers: Iterable[Answer]) -> dict[tuple[str, str], Answer]:
    """For each BAD answer that another one explains, by (code, subject): the root cause.

    A chain ends at its first cause; answers that explain each other in a circle keep the worse one as the root. A
    milder answer explains no worse one: the headline, the counts and the exit status go by the roots.
    """
    found = sorted(
        (answer for answer in answers if answer.kind is Status.BAD),
        key=lambda answer: (answer.severity.rank, answer.code, answer.subject),
    )
    cause: dict[tuple[str, str], Answer] = {}
    for root in (one for one in found if one.explains):
        named = {one.code for one in root.explains}
        for symptom in [one for one in found if one.code in named]:
            key = (symptom.code, symptom.subject)
            if key in cause or symptom is root or not any(_names(one, symptom) for one in root.explains):
                continue
            if symptom.severity.rank < root.severity.rank:
                continue
            if (_top(root, cause).code, _top(root, cause).subject) != key:
                cause[key] = root
    return {key: _top(root, cause) for key, root in cause.items()}


def _names(symptom: Symptom, answer: Answer) -> bool:
    return symptom.code == answer.code and symptom.subject in ("", answer.subject)


def _top(answer: Answer, cause: Mapping[tuple[str, str], Answer]) -> Answer:
    while (answer.code, answer.subject) in cause:
        answer = cause[answer.code, answer.subject]
    return answer
