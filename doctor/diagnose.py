"""Make the report of facts: the rules answer, the policy changes answers, remedies are proven, a verdict follows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from compat.need import Advice
from compat.traits import traits_of
from doctor.host import Host
from doctor.model.facts import Facts
from doctor.model.facts.policy import Policy, PolicyException
from doctor.model.facts.seen import Place, value_or
from doctor.model.finding import (
    CHECK_ERROR,
    Answer,
    Evidence,
    Finding,
    Remedy,
    Report,
    Severity,
    Status,
    Symptom,
    page_command,
)
from doctor.rules.shared.engine import Rules, judge, load_rules, root_causes

if TYPE_CHECKING:
    from doctor.prescribe.remedy_verifier import RemedyVerifier

Revision = Callable[[tuple[Answer, ...]], tuple[Answer, ...]]
NO_GPU = "no-nvidia-gpu"
_IMPORT = frozenset(("framework-import-crash", "framework-import-hang"))
EXIT_FINE, EXIT_BAD, EXIT_UNKNOWN = 0, 1, 4


class Observation(NamedTuple):
    """What was seen of one machine, root, image, Dockerfile or text."""

    facts: Facts
    host: Host | None = None  # on which remedies are tried; None: by the facts alone
    revise: Revision | None = None  # what else is known of the answers, before the policy


def diagnose(seen: Observation, matrix: Matrix, rules: Rules, started: float) -> Report:
    """Return the report; `started` is the `time.perf_counter()` of the begin of the run."""
    facts, host, revise = seen
    answers = judge(facts, matrix, rules)
    answers = apply_policy(revise(answers) if revise else answers, facts.policy)
    return make_report(facts, answers, matrix, started, verifier_for(facts, answers, matrix, rules, host))


def answers_under_policy(facts: Facts, matrix: Matrix, rules: Rules | None = None) -> tuple[Answer, ...]:
    """Return what these rules, by default all, say of the facts under the policy that is among them; no remedies."""
    return apply_policy(judge(facts, matrix, load_rules() if rules is None else rules), facts.policy)


def apply_policy(answers: tuple[Answer, ...], policy: Policy) -> tuple[Answer, ...]:
    """Make an error of what is forbidden; what is allowed only explains, and leaves nobody in doubt if unknown."""
    forbidden = {one.code: one.source for one in policy.forbidden}
    allowed = {one.code: one for one in policy.exceptions if not one.is_over}
    if not forbidden and not allowed:
        return answers
    return tuple(
        _tolerated(one, allowed[one.code])
        if one.code in allowed
        else _worse(one, forbidden[one.code])
        if one.code in forbidden and one.kind is Status.BAD
        else one
        for one in answers
    )


def _tolerated(answer: Answer, exception: PolicyException) -> Answer:
    evidence = Evidence.at(exception.source, f"allowed until {exception.expires}: {exception.reason}")
    return answer._replace(blocks_verdict=False, severity=Severity.INFO, evidence=(*answer.evidence, evidence))


def _worse(answer: Answer, source: Place) -> Answer:
    evidence = Evidence.at(source, "the policy forbids this finding")
    return answer._replace(severity=Severity.ERROR, evidence=(*answer.evidence, evidence))


def verifier_for(
    facts: Facts, answers: tuple[Answer, ...], matrix: Matrix, rules: Rules, host: Host | None
) -> RemedyVerifier | None:
    """Return what proves remedies on the machine that the facts are of; None where there is nothing to prove."""
    needs = [need for one in answers if one.kind is Status.BAD for need in one.needs]
    if all(isinstance(need, Advice) for need in needs):
        return None
    from doctor.prescribe.remedy_verifier import RemedyVerifier  # late: only runs with a finding pay for it

    return RemedyVerifier(facts, answers, matrix, rules, host)


def simulation_of(report: Report, matrix: Matrix, host: Host) -> RemedyVerifier:
    """Return what asks all rules about a report's machine as it would be after effects."""
    from doctor.prescribe.remedy_verifier import RemedyVerifier  # late, as above

    return RemedyVerifier(report.facts, report.answers, matrix, load_rules(), host)


def make_report(
    facts: Facts, answers: tuple[Answer, ...], matrix: Matrix, started: float, verifier: RemedyVerifier | None = None
) -> Report:
    """Return the report that follows from the answers; with a verifier, remedies are proven before they are given."""
    findings = findings_of(answers, facts, matrix, verifier)
    return Report(
        facts=facts,
        answers=answers,
        findings=findings,
        verdict=_verdict(answers, findings),
        matrix_as_of=matrix.as_of(),
        elapsed_s=time.perf_counter() - started,
    )


def exit_status(report: Report, fail_on: Severity) -> int:
    """The process's exit status: 1 for a finding at or above `fail_on`, 4 where something that matters is open."""
    if any(finding.severity.rank <= fail_on.rank for finding in report.findings if finding.code != CHECK_ERROR):
        return EXIT_BAD
    return EXIT_UNKNOWN if _is_open(report.answers) else EXIT_FINE


def findings_of(
    answers: tuple[Answer, ...], facts: Facts, matrix: Matrix, verifier: RemedyVerifier | None = None
) -> tuple[Finding, ...]:
    """Roots first, worst first; what a root explains comes after all roots, without remedies of its own."""
    wrong = [one for one in answers if one.kind is Status.BAD]
    if not wrong:
        return ()
    causes = root_causes(answers)
    found: list[tuple[bool, Finding]] = []
    for answer in wrong:
        cause = causes.get((answer.code, answer.subject))
        symptoms = [
            Symptom(code, subject)
            for (code, subject), root in causes.items()
            if (root.code, root.subject) == (answer.code, answer.subject)
        ]
        remedies: tuple[Remedy, ...] = ()
        if answer.needs and not cause:
            from doctor.prescribe.remedies import prescribe  # late: a machine that needs nothing does not pay for it

            remedies = prescribe(answer, facts, matrix, verifier)
        finding = Finding(
            code=answer.code,
            severity=answer.severity,
            subject=answer.subject,
            summary=answer.why,
            evidence=answer.evidence,
            explains=tuple(sorted(symptoms)),
            explained_by=cause.code if cause else "",
            remedies=remedies,
            docs=page_command(answer.code),
        )
        found.append((_stops_import(answer), finding))
    followers = _followers(facts)
    return tuple(one for _, one in sorted(found, key=lambda pair: _place(pair[1], followers, stops_import=pair[0])))


def _stops_import(answer: Answer) -> bool:
    """Whether a framework cannot be imported for this: an import was tried, or the rule says that it would fail."""
    return answer.code in _IMPORT or any(one.code in _IMPORT for one in answer.explains)


def _followers(facts: Facts) -> frozenset[str]:
    """The subjects that run on another framework."""
    told = value_or(facts.environments, ())
    frameworks = ((one.package, one.label) for each in told for one in value_or(each.frameworks, ()))
    extensions = ((one.distribution, one.label) for each in told for one in value_or(each.extensions, ()))
    return frozenset(label for name, label in (*frameworks, *extensions) if traits_of(name).runs_on)


def _place(
    finding: Finding, followers: frozenset[str], *, stops_import: bool
) -> tuple[bool, int, bool, bool, bool, str, str]:
    """Roots, then severity, then what stops an import; a missing card and our own failures come last.

    What runs on a framework comes after it: another build of that brings another one of these.
    """
    return (
        bool(finding.explained_by),
        finding.severity.rank,
        finding.code in {NO_GPU, CHECK_ERROR},
        finding.subject in followers,
        not stops_import,
        finding.code,
        finding.subject,
    )


def _is_open(answers: tuple[Answer, ...]) -> bool:
    """Whether something that matters is UNKNOWN, or a check of ours failed."""
    return any(answer.code == CHECK_ERROR and answer.kind is Status.BAD for answer in answers) or any(
        answer.kind is Status.UNKNOWN and answer.blocks_verdict for answer in answers
    )


def _verdict(answers: tuple[Answer, ...], findings: tuple[Finding, ...]) -> str:
    worst = {finding.severity for finding in findings if finding.code not in {NO_GPU, CHECK_ERROR}}
    without_gpu = [finding.severity for finding in findings if finding.code == NO_GPU]
    if Severity.ERROR in worst:
        return "broken"
    if Severity.ERROR in without_gpu:
        return "no-gpu"
    if Severity.WARNING in worst:
        return "warnings"
    return "unknown" if _is_open(answers) else "no-gpu" if without_gpu else "healthy"
