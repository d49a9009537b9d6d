"""Asking rules, and finding root causes."""

from __future__ import annotations

import pytest

from compat.matrix import Matrix
from doctor.diagnose import findings_of
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import UnseenError
from doctor.model.finding import Answer, Severity, Status, Symptom, bad, ok
from doctor.rules.shared.engine import codes, judge, load_rules, root_causes
from doctor.rules.shared.rule import NotApplicable, Rule, Subjects
from doctor.rules.shared.subjects import MACHINE
from tests.machine import environment, framework, machine, seen

MATRIX = Matrix()


def rule(answer: Answer | Exception) -> Rule[Machine]:
    def check(_subject: Machine, _facts: Facts, _matrix: Matrix) -> Answer:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Rule(MACHINE, check)


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        (ok("fine"), Status.OK, "fine"),
        (bad("broken"), Status.BAD, "broken"),
        (UnseenError("not readable"), Status.UNKNOWN, "not readable"),
        (NotApplicable("no GPU"), Status.NOT_APPLICABLE, "no GPU"),
    ],
)
def test_answers(answer: Answer | Exception, kind: Status, why: str) -> None:
    [given] = judge(machine(), MATRIX, {"some-code": rule(answer)})
    assert (given.kind, given.why, given.code, given.subject) == (kind, why, "some-code", "this machine")


def test_a_rule_that_raises_is_a_check_error() -> None:
    [given] = judge(machine(), MATRIX, {"some-code": rule(ZeroDivisionError("oops"))})
    assert (given.code, given.kind) == ("check-error", Status.BAD)
    assert "ZeroDivisionError: oops" in given.why
    assert "test_engine.py:" in given.why


def test_no_subject_is_not_applicable_and_unseen_subjects_are_unknown() -> None:
    def unreadable(_facts: Facts) -> tuple[Machine, ...]:
        raise UnseenError("no listing")

    def check(_subject: Machine, _facts: Facts, _matrix: Matrix) -> Answer:
        return ok("")

    none: Subjects[Machine] = Subjects("thing", lambda _facts: ())
    [given] = judge(machine(), MATRIX, {"some-code": Rule(none, check)})
    assert (given.kind, given.why) == (Status.NOT_APPLICABLE, "no thing was found")
    [given] = judge(machine(), MATRIX, {"some-code": Rule(Subjects("thing", unreadable), check)})
    assert (given.kind, given.why) == (Status.UNKNOWN, "no listing")


def finding(code: str, *explains: Symptom, subject: str = "m", severity: Severity = Severity.ERROR) -> Answer:
    return bad(code, explains=explains, severity=severity)._replace(code=code, subject=subject)


def roots(*answers: Answer) -> set[str]:
    causes = root_causes(answers)
    return {answer.code for answer in answers if (answer.code, answer.subject) not in causes}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ((finding("a"), finding("b")), {"a", "b"}),
        ((finding("a", Symptom("b")), finding("b")), {"a"}),
        ((finding("a", Symptom("b")), finding("b", Symptom("c")), finding("c")), {"a"}),
        ((finding("a", Symptom("b", "other")), finding("b")), {"a", "b"}),
        ((finding("a", Symptom("b", "m")), finding("b")), {"a"}),
        ((finding("a", Symptom("b")), finding("b", Symptom("a"))), {"a"}),
        ((finding("a", Symptom("b"), severity=Severity.WARNING), finding("b", Symptom("a"))), {"b"}),
        ((finding("a", Symptom("a")),), {"a"}),
    ],
)
def test_roots(answers: tuple[Answer, ...], expected: set[str]) -> None:
    assert roots(*answers) == expected


def test_a_chain_ends_at_its_first_cause() -> None:
    chain = (finding("a", Symptom("b")), finding("b", Symptom("c")), finding("c"))
    assert root_causes(chain)["c", "m"].code == "a"


def test_every_rule_loads() -> None:
    assert set(load_rules()) == set(codes())


def test_what_runs_on_a_framework_comes_after_it() -> None:
    wrong = [
        bad("made for another torch")._replace(code="companion-version-mismatch", subject="torchvision 0.23.0"),
        bad("the driver is too old")._replace(code="driver-too-old-for-runtime", subject="torch 2.8.0+cu128"),
    ]
    frameworks = (framework("torchvision", "0.23.0"), framework("torch", "2.8.0+cu128"))
    facts = machine(environments=seen((environment(*frameworks),)))
    assert [one.subject.split()[0] for one in findings_of(tuple(wrong), facts, MATRIX)] == ["torch", "torchvision"]
