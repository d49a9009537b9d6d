"""Requirements of installed packages, taken apart and compared."""

from __future__ import annotations

import time

import pytest

from compat.specifier import keeps
from doctor.model.finding import Status, unknown
from doctor.rules.shared.engine import judge
from doctor.rules.shared.pins import Pin, applies, is_older, pin
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE
from tests.machine import environment, machine
from tests.rules.case import MATRIX


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nvidia-cudnn-cu12==9.10.2.21", Pin("nvidia-cudnn-cu12", "==9.10.2.21", "")),
        ("Nvidia_Cudnn.cu12 (>=9.8,<10)", Pin("nvidia-cudnn-cu12", ">=9.8,<10", "")),
        ("cuda-toolkit[cublas,cudart]==13.0.2", Pin("cuda-toolkit", "==13.0.2", "")),
        ("jaxlib<=0.9.0,>=0.9.0", Pin("jaxlib", "<=0.9.0,>=0.9.0", "")),
        ("triton==3.5.1; python_version < '3.15'", Pin("triton", "==3.5.1", "python_version < '3.15'")),
        ("torch", Pin("torch", "", "")),
        ("", None),
        ("==1.0", None),
        ("a" * 600, None),
    ],
)
def test_pin(text: str, expected: Pin | None) -> None:
    assert pin(text) == expected


@pytest.mark.parametrize("text", ["a" + " " * 480 + ")", "a(" + " " * 480, "a[" + "[" * 480, ";" * 490])
def test_hostile_requirements_take_no_time(text: str) -> None:
    started = time.thread_time()
    pin(text)
    assert time.thread_time() - started < 1


@pytest.mark.parametrize(
    ("specifier", "version", "kept", "older"),
    [
        ("==9.10.2.21", "9.10.2.21", True, False),
        ("==9.10.2.21", "9.5.1.17", False, True),
        ("==9.10.2.21", "9.12.0.46", False, False),
        (">=9.8,<10.0", "10.1.0", False, False),
        (">=9.8,<10.0", "9.1.0.70", False, True),
        ("~=13.0", "13.2.1", True, False),
        ("~=13.0", "12.9.1", False, True),
        ("", "1.0", True, False),
        ("== nonsense", "1.0", True, False),
        (">=1.0", "nonsense", True, False),
    ],
)
def test_versions(specifier: str, version: str, kept: bool, older: bool) -> None:
    assert keeps(specifier, version) is kept
    assert kept or is_older(specifier, version) is older


@pytest.mark.parametrize(
    ("rule", "answer", "matters"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_not_knowing_matters_where_rule_and_answer_say_so(rule: bool, answer: bool, matters: bool) -> None:
    one = Rule(MACHINE, lambda *_: unknown("why")._replace(blocks_verdict=answer), blocks_verdict=rule)
    (found,) = judge(machine(), MATRIX, {"test": one})
    assert (found.kind, found.blocks_verdict) == (Status.UNKNOWN, matters)


@pytest.mark.parametrize(
    "requirement",
    [
        *("a[" + "[" * 480, "a[" * 240, "a[" + "\t" * 490, "a[" + " ( " * 160, f"a{' ' * 490}x;"),
        *("a" + "]" * 490, "a" + "(" * 490, f"a({' ' * 480})x)", "a ; " + "(" * 490, f"a ; {'(' * 240}{')' * 240}"),
    ],
    ids=lambda text: text[:8],
)
def test_a_saved_report_is_no_trap(requirement: str) -> None:
    """Brackets in brackets, and blanks, in a requirement that anybody may have written."""
    started = time.thread_time()
    one = pin(requirement)
    if one:
        assert not applies(one, machine().system, environment()) or not one.marker
        keeps(one.specifier, "2.9.1")
    assert time.thread_time() - started < 0.5
