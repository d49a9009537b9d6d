"""framework-not-published: a plan for which there is no wheel on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Facts
from doctor.model.finding import Status
from doctor.planned.planned import parse_plan, planned
from tests import machine as healthy
from tests.rules.case import MATRIX, answer

CODE = "framework-not-published"
WINDOWS = {"family": healthy.seen("windows"), "machine": healthy.seen("AMD64")}
ARM = {"machine": healthy.seen("aarch64")}


def plan(spec: str, **system: Any) -> Facts:
    return planned(healthy.machine(system=healthy.system(**system)), parse_plan((spec,)), MATRIX)


@pytest.mark.parametrize(
    ("spec", "system", "kind"),
    [
        ("torch==2.9.1", {}, Status.OK),
        ("torch==2.9.1", WINDOWS, Status.OK),
        ("torch==2.9.1", ARM, Status.OK),
        ("jax-cuda12-plugin==0.7.0", WINDOWS, Status.BAD),  # its wheels are manylinux only
        ("mxnet-cu112==1.9.1", ARM, Status.BAD),
        ("torch==99.0", {}, Status.UNKNOWN),
        ("torch==2.9.1+cu118", {}, Status.BAD),  # no such wheel is on its index
        ("torch==2.9.1+cpu", {}, Status.OK),
        ("torch==2.9.1", {"machine": healthy.unseen("no ELF file")}, Status.UNKNOWN),
    ],
)
def test_answers(spec: str, system: dict[str, Any], kind: Status) -> None:
    assert answer(CODE, plan(spec, **system)).kind is kind


def test_it_says_where_it_is_published() -> None:
    found = answer(CODE, plan("jax-cuda12-plugin==0.7.0", **WINDOWS))
    assert "was never published for windows x86_64, only for linux" in found.why
    assert [as_json(need).product for need in found.needs] == ["by-hand"]


def test_it_says_which_builds_there_are() -> None:
    found = answer(CODE, plan("torch==2.7.1+cu124"))
    assert "never published: 2.7.1 exists for cu118, cu126, cu128" in found.why
    assert (as_json(found.needs[0]).product, as_json(found.needs[0]).spec, as_json(found.needs[0]).build) == (
        "torch",
        "==2.7.1",
        "cu126",
    )


def test_what_is_installed_is_not_asked() -> None:
    assert answer(CODE, healthy.machine()).kind is Status.NOT_APPLICABLE
