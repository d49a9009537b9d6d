"""One way from facts to the report: only doctor/diagnose.py asks the rules, proves remedies and makes reports."""

from __future__ import annotations

import ast
import random

import pytest

from compat.matrix import Matrix
from doctor.commands.check.document import CheckDocument
from doctor.commands.check.text import render
from doctor.diagnose import Observation, answers_under_policy, diagnose, exit_status, make_report
from doctor.model.facts.policy import Forbidden, Policy, PolicyException
from doctor.model.facts.seen import Place
from doctor.model.finding import Answer, Severity, Status, Symptom, bad
from doctor.output.document import TextStyle
from doctor.output.formats.prometheus import render as prometheus
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE
from tests.machine import machine
from tests.test_rooms import modules

# The functions of the way, and the modules that call them. The verifier asks the rules about a simulated machine.
CALLERS = {
    "judge": {"doctor.diagnose", "doctor.prescribe.remedy_verifier"},
    "RemedyVerifier": {"doctor.diagnose"},
    "make_report": {"doctor.diagnose"},
    "apply_policy": {"doctor.diagnose"},
}


def uses(tree: ast.Module) -> set[str]:
    """Return which of them a module calls, imports under another name, or passes on."""
    types_only = {
        id(one)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for one in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in types_only:
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.Call):
            found.add(ast.unparse(node.func).rpartition(".")[2])
    return found & CALLERS.keys()


def test_only_one_module_makes_reports() -> None:
    found: dict[str, set[str]] = {name: set() for name in CALLERS}
    for module, path in modules().items():
        code = path.read_text(encoding="utf-8")
        for name in uses(ast.parse(code)) if any(one in code for one in CALLERS) else ():
            found[name].add(module)
    assert found == CALLERS


@pytest.mark.parametrize(
    "code",
    [
        "from doctor.rules.shared.engine import judge as ask",
        "def f():\n    return engine.judge(facts, matrix, rules)",
        "make_report(facts, (), matrix, 0.0)",
        "from doctor.prescribe.remedy_verifier import RemedyVerifier",
    ],
)
def test_a_second_way_is_found(code: str) -> None:
    assert uses(ast.parse(code))
    assert not uses(ast.parse("if TYPE_CHECKING:\n    from doctor.prescribe.remedy_verifier import RemedyVerifier"))


MILD = {"mild": Rule(MACHINE, lambda *_: bad("it is so", severity=Severity.WARNING))}
AT = Place("gpudoctor.toml", 1)
STRICT = Policy("gpudoctor.toml", forbidden=(Forbidden("mild", AT),))
TOLERANT = Policy("gpudoctor.toml", exceptions=(PolicyException("mild", "so be it", "2999-01-31", False, AT),))


@pytest.mark.parametrize(
    ("policy", "severity", "verdict"),
    [
        (Policy(), Severity.WARNING, "warnings"),
        (STRICT, Severity.ERROR, "broken"),
        (TOLERANT, Severity.INFO, "healthy"),
    ],
)
def test_the_policy_changes_the_answers_of_a_report_and_answers_alone(
    policy: Policy, severity: Severity, verdict: str
) -> None:
    facts = machine(policy=policy)
    report = diagnose(Observation(facts), Matrix(), MILD, 0.0)
    assert ([one.severity for one in report.findings], report.verdict) == ([severity], verdict)
    assert answers_under_policy(facts, Matrix(), MILD) == report.answers


def test_what_else_is_known_changes_answers_before_the_policy() -> None:
    given: list[Severity] = []

    def revise(answers: tuple[Answer, ...]) -> tuple[Answer, ...]:
        given.extend(one.severity for one in answers)
        return tuple(one._replace(severity=Severity.INFO) for one in answers)

    report = diagnose(Observation(machine(policy=STRICT), revise=revise), Matrix(), MILD, 0.0)
    assert given == [Severity.WARNING]
    assert [(one.kind, one.severity) for one in report.answers] == [(Status.BAD, Severity.ERROR)]


def test_a_milder_answer_explains_no_worse_one() -> None:
    """Otherwise the headline is a warning and the exit status that of an error."""
    rules = {
        "worse": Rule(MACHINE, lambda *_: bad("worse")),
        "milder": Rule(MACHINE, lambda *_: bad("milder", severity=Severity.WARNING, explains=(Symptom("worse"),))),
    }
    report = diagnose(Observation(machine()), Matrix(), rules, 0.0)
    assert [(one.code, one.explained_by) for one in report.findings] == [("worse", ""), ("milder", "")]
    assert (report.verdict, exit_status(report, Severity.ERROR)) == ("broken", 1)


def test_headline_counts_verdict_and_exit_status_agree() -> None:
    """Whatever rules were asked, whatever explains what, and whatever the policy made milder or worse."""
    names = random.Random(37)
    codes = ["no-nvidia-gpu", "cudnn-missing", "persistence-off", "needed-library-missing", "driver-branch-ended"]
    for _ in range(400):
        answers = tuple(
            Answer(
                kind=names.choice([Status.BAD, Status.BAD, Status.OK, Status.UNKNOWN]),
                why=f"{code} is so",
                severity=names.choice(list(Severity)),
                explains=tuple(Symptom(one) for one in names.sample(codes, names.randrange(3))),
                code=code,
                subject="this machine",
                blocks_verdict=names.random() < 0.5,
            )
            for code in names.sample(codes, names.randrange(1, 5))
        )
        report = make_report(machine(), answers, Matrix(), 0.0)
        roots = [one for one in report.findings if not one.explained_by]
        errors = sum(one.severity is Severity.ERROR for one in roots)
        text = render(report, TextStyle(symbols=True))
        assert (exit_status(report, Severity.ERROR) == 1) is (errors > 0), answers
        assert text.startswith("✗ ") is (errors > 0), answers
        assert f"{errors} error" in text
        assert (report.verdict == "broken") <= (errors > 0)
        assert (report.verdict in {"healthy", "warnings"}) <= (errors == 0)
        assert [one.severity.rank for one in roots] == sorted(one.severity.rank for one in roots)
        samples = prometheus(CheckDocument(report), TextStyle())
        assert f'gpudoctor_findings{{severity="error"}} {errors}\n' in samples
