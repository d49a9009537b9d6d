"""nvcc-too-old-for-gpu-arch."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import InstallToolkit
from doctor.model.finding import Severity, Status
from tests.machine import environment, framework, gpu, machine, seen, toolkit, toolkits, unseen
from tests.rules.case import answer

CODE = "nvcc-too-old-for-gpu-arch"


def here(cuda: str, *capabilities: str, **changes: Any) -> Any:
    cards = tuple(gpu(capability=one) for one in capabilities)
    return machine(toolkit=toolkits(toolkit(cuda)), gpus=seen(cards), **changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (here("12.8.1", "12.0"), Status.OK),
        (here("12.4.1", "12.0"), Status.BAD),
        (here("12.4.1", "8.9", "12.0"), Status.BAD),
        (here("13.0.2", "7.0"), Status.BAD),  # dropped
        (here("99.0.0", "9.0"), Status.UNKNOWN),
        (machine(toolkit=toolkits(toolkit("12.4.1")), gpus=unseen()), Status.UNKNOWN),
        (
            machine(toolkit=toolkits(toolkit("12.4.1")), gpus=seen((gpu()._replace(capability=unseen()),))),
            Status.UNKNOWN,
        ),
        (machine(toolkit=toolkits(toolkit("12.4.1", nvcc=unseen()))), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("facts", "need"),
    [
        (here("12.4.1", "12.0"), InstallToolkit(">=12.8")),
        (here("13.0.2", "7.0"), InstallToolkit(">=9.0,<=12.9")),
    ],
)
def test_the_toolkits_that_know_the_card(facts: Any, need: InstallToolkit) -> None:
    assert answer(CODE, facts).needs == (need,)


@pytest.mark.parametrize(("package", "severity"), [("torch", Severity.WARNING), ("onnxruntime-gpu", Severity.INFO)])
def test_a_warning_where_something_builds(package: str, severity: Severity) -> None:
    facts = here("12.4.1", "12.0", environments=seen((environment(framework(package)),)))
    assert answer(CODE, facts).severity is severity
