"""What the rules of `check` say of the machine that the dumps of a text describe."""

from __future__ import annotations

import time
from functools import partial

from compat.matrix import Matrix
from doctor.commands.explain.dump import Told
from doctor.commands.explain.facts import facts_of
from doctor.diagnose import Observation, diagnose
from doctor.messages.causes import MORE_EXACT, NOT_THE_STACK, Cause, Matched
from doctor.messages.reading import Reading
from doctor.model.facts import Facts
from doctor.model.facts.seen import Seen, Unseen, WhyNot, value_or
from doctor.model.finding import Answer, Finding, Report, Severity, Status
from doctor.rules.shared.engine import load_rules

HEALTHY = "not-a-stack-problem"
# What speaks against a card or a driver that a program has just used.
_REFUTED_BY_USE = frozenset({"driver-too-old-for-runtime", "cpu-only-wheel", "gpu-too-old-dropped"})
_JUDGED = frozenset({"driver-too-old-for-runtime", "gpu-arch-not-in-build"})  # that nothing is wrong takes these
_NO_FAULT = "no-nvidia-gpu"  # no machine needs one for a program that fails of its own
_SURE, _WARNED, _FITS = 0.9, 0.4, 0.5


def report_of(told: Told, name: str, matrix: Matrix) -> Report:
    """Return the report on the dumps of a text. `name`: how findings name the machine."""
    started, facts = time.perf_counter(), facts_of(told, name, matrix)
    seen = Observation(facts, revise=partial(without_refuted, facts=facts))
    return diagnose(seen, matrix, load_rules(), started)


def without_refuted(answers: tuple[Answer, ...], facts: Facts) -> tuple[Answer, ...]:
    """Drop the answers that the text itself shows to be wrong."""
    return tuple(one for one in answers if not _is_refuted(one, facts))


def _is_refuted(answer: Answer, facts: Facts) -> bool:
    """Whether the text itself shows the contrary: CUDA started, or the libcuda in use (cuda-compat's) is new enough."""
    if answer.kind is not Status.BAD or answer.code not in _REFUTED_BY_USE:
        return False
    started = isinstance(facts.driver.cuda_start, Seen)
    frameworks = [one for each in value_or(facts.environments, ()) for one in value_or(each.frameworks, ())]
    built = [one.cuda.value for one in frameworks if one.label == answer.subject and isinstance(one.cuda, Seen)]
    serves = isinstance(facts.driver.cuda, Seen) and bool(built) and facts.driver.cuda.value >= max(built)
    return started or (serves and answer.code == "driver-too-old-for-runtime")


def causes_of_report(report: Report, reading: Reading) -> tuple[Cause, ...]:
    """The findings as causes; where there is none, that what matters fits together."""
    found = tuple(
        _cause(one, reading) for one in report.findings if not one.explained_by and one.severity is not Severity.INFO
    )
    errors = any(one.severity is Severity.ERROR for one in report.findings)
    fine = {one.code for one in report.answers if one.kind is Status.OK}
    start = report.facts.driver.cuda_start
    fails = isinstance(start, Unseen) and start.why_not is WhyNot.FAILS
    if errors or fails or not fine >= _JUDGED or not isinstance(report.facts.gpus, Seen):
        return found
    says = "driver, GPU and framework fit together, as far as the text shows"
    return (*found, _plain(HEALTHY, _FITS, says, (), blames=False))


def _cause(finding: Finding, reading: Reading) -> Cause:
    numbers = [one.line for one in finding.evidence if one.line and not one.file]
    texts = {line.number: line.text for line in reading.lines}
    matched = tuple(
        Matched(number, texts[number].strip()[:400]) for number in dict.fromkeys(numbers) if number in texts
    )
    error = finding.severity is Severity.ERROR
    blames = error and finding.code not in NOT_THE_STACK
    cause = _plain(finding.code, _SURE if error else _WARNED, finding.summary, matched, blames=blames)
    return cause._replace(remedies=finding.remedies)


def _plain(code: str, confidence: float, says: str, matched: tuple[Matched, ...], *, blames: bool) -> Cause:
    return Cause(
        code=code,
        confidence=confidence,
        summary=says,
        matched=matched,
        asks="",
        source="the rules of gpudoctor check, applied to this text",
        blames_stack=blames,
    )


def merged(by_message: tuple[Cause, ...], by_rule: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """Both, the surest first; what a message and a rule agree on is surer, and has the rule's remedies."""
    of_its_own = bool(by_message) and not any(one.blames_stack for one in by_message)
    rules = {one.code: one for one in by_rule if not (of_its_own and one.code == _NO_FAULT)}
    both = []
    for one in by_message:
        code = next((code for code in (one.code, *MORE_EXACT.get(one.code, ())) if code in rules), "")
        both.append(_agreed(one, rules.pop(code)) if code else one)
    return tuple(sorted((*both, *rules.values()), key=lambda one: -one.confidence))


def agreed(by_message: tuple[Cause, ...], by_rule: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """Add the rules' remedies to the causes of messages that a rule confirms; the rules make no cause of their own."""
    known = {code for one in by_message for code in (one.code, *MORE_EXACT.get(one.code, ()))}
    return merged(by_message, tuple(one for one in by_rule if one.code in known))


def _agreed(message: Cause, rule: Cause) -> Cause:
    lines = {one.line: one for one in (*message.matched, *rule.matched)}
    return message._replace(
        code=rule.code,
        confidence=round(min(0.99, max(message.confidence, rule.confidence) + 0.03), 2),
        summary=rule.summary if rule.blames_stack else message.summary,
        matched=tuple(lines.values()),
        remedies=rule.remedies,
    )
