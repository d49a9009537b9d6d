"""What a policy changes of the answers: how bad a finding is."""

from __future__ import annotations

from doctor.model.facts.policy import Policy, PolicyException
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Evidence, Severity, Status


def apply_policy(answers: tuple[Answer, ...], policy: Policy) -> tuple[Answer, ...]:
    """What is forbidden is an error; what is allowed only explains, and its being unknown leaves nobody in doubt."""
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
