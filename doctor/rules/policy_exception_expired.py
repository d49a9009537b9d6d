"""An exception of the policy has expired."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.policy import PolicyException
from doctor.model.finding import Answer, Evidence, Severity, Status, bad, ok
from doctor.rules.shared.rule import Rule, Subjects

EXCEPTIONS: Subjects[PolicyException] = Subjects("exception of a policy", lambda facts: facts.policy.exceptions)


def check(exception: PolicyException, facts: Facts, matrix: Matrix) -> Answer:
    """It holds until the end of its last day (UTC); after that its finding counts again."""
    if not exception.is_over:
        return ok(f"allowed until {exception.expires}: {exception.reason}")
    return bad(
        f"the exception for {exception.code} expired on {exception.expires}: {exception.reason}",
        Advice(f"Fix {exception.code}, or set a new date in {exception.source}."),
        severity=Severity.WARNING,
        evidence=(Evidence.at(exception.source, f"expires {exception.expires}"),),
    )


RULE = Rule(EXCEPTIONS, check, never={Status.UNKNOWN: "its date is in the file"})
