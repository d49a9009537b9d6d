"""From answers to the report: find the roots, prescribe, and say how it all ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from compat.matrix import Matrix
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.model.finding import CHECK_ERROR, Answer, Finding, Report, Severity, Status, Symptom, page_command
from doctor.rules.shared.engine import root_causes

if TYPE_CHECKING:
    from doctor.prescribe.remedy_verifier import RemedyVerifier

NO_GPU = "no-nvidia-gpu"
EXIT_FINE, EXIT_BAD, EXIT_UNKNOWN = 0, 1, 4


def make_report(
    facts: Facts, answers: tuple[Answer, ...], matrix: Matrix, started: float, court: RemedyVerifier | None = None
) -> Report:
    """What follows from the answers; `started` is `time.perf_counter()` at the begin of the run.

    With a court, remedies are proven before they are given.
    """
    findings = findings_of(answers, facts, matrix, court)
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
    answers: tuple[Answer, ...], facts: Facts, matrix: Matrix, court: RemedyVerifier | None = None
) -> tuple[Finding, ...]:
    """Roots first, worst first; what a root explains comes after all roots, without remedies of its own."""
    wrong = [one for one in answers if one.kind is Status.BAD]
    if not wrong:
        return ()
    from doctor.prescribe.remedies import prescribe  # late: a healthy machine needs no remedy

    causes = root_causes(answers)
    found = []
    for answer in wrong:
        cause = causes.get((answer.code, answer.subject))
        symptoms = [
            Symptom(code, subject)
            for (code, subject), root in causes.items()
            if (root.code, root.subject) == (answer.code, answer.subject)
        ]
        found.append(
            Finding(
                code=answer.code,
                severity=answer.severity,
                subject=answer.subject,
                summary=answer.why,
                evidence=answer.evidence,
                explains=tuple(sorted(symptoms)),
                explained_by=cause.code if cause else "",
                remedies=() if cause else prescribe(answer, facts, matrix, court),
                docs=page_command(answer.code),
            )
        )
    followers = _followers(facts)
    return tuple(sorted(found, key=lambda finding: _place(finding, followers)))


def _followers(facts: Facts) -> frozenset[str]:
    """The subjects that run on another framework."""
    told = value_or(facts.environments, ())
    frameworks = ((one.package, one.label) for each in told for one in value_or(each.frameworks, ()))
    extensions = ((one.distribution, one.label) for each in told for one in value_or(each.extensions, ()))
    return frozenset(label for name, label in (*frameworks, *extensions) if traits_of(name).runs_on)


def _place(finding: Finding, followers: frozenset[str]) -> tuple[bool, int, bool, bool, str, str]:
    """Roots, then severity; a missing card and our own failures come after the faults of the stack.

    What runs on a framework comes after it: another build of that brings another one of these.
    """
    return (
        bool(finding.explained_by),
        finding.severity.rank,
        finding.code in {NO_GPU, CHECK_ERROR},
        finding.subject in followers,
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
    if Severity.ERROR in worst:
        return "broken"
    if any(finding.code == NO_GPU for finding in findings):
        return "no-gpu"
    if Severity.WARNING in worst:
        return "warnings"
    return "unknown" if _is_open(answers) else "healthy"
