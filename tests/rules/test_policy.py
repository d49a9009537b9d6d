"""The rules of a policy; what it reads, writes and changes is in tests/commands/policy."""

from __future__ import annotations

import pytest

from doctor.model.facts import Facts
from doctor.model.facts.policy import Policy, PolicyException, Requirement
from doctor.model.facts.seen import Place
from doctor.model.finding import Status
from tests.machine import driver, machine, unseen
from tests.rules.case import answer


def wants(wanted: str) -> Policy:
    one = Requirement(key="require.driver", name="driver", wanted=wanted, build="", source=Place("gpudoctor.toml", 2))
    return Policy("gpudoctor.toml", (one,))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(policy=wants(">=580")), Status.OK),
        (machine(policy=wants(">=590")), Status.BAD),
        (machine(policy=wants(">=580"), driver=driver()._replace(release=unseen("not loaded"))), Status.UNKNOWN),
        (machine(), Status.NOT_APPLICABLE),
    ],
)
def test_policy_not_met(facts: Facts, kind: Status) -> None:
    assert answer("policy-not-met", facts).kind is kind


@pytest.mark.parametrize(("is_over", "kind"), [(False, Status.OK), (True, Status.BAD)])
def test_policy_exception_expired(is_over: bool, kind: Status) -> None:
    one = PolicyException(
        code="persistence-off",
        reason="desktop",
        expires="2026-01-31",
        is_over=is_over,
        source=Place("gpudoctor.toml", 4),
    )
    assert answer("policy-exception-expired", machine(policy=Policy("p", exceptions=(one,)))).kind is kind
