"""Errors of CUDA by their number alone, in both numberings: before CUDA 10.1, and since."""

from __future__ import annotations

import pytest

from tests.explain.test_messages import causes

_USER = "not-a-stack-problem"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (30, 999, "uvm-broken-after-suspend"),
        (3, 3, "no-device-nodes"),
        (35, 35, "driver-too-old-for-runtime"),
        (39, 214, "ecc-xid-hardware-fault"),
        (41, 303, "driver-libraries-missing"),
        (46, 46, "gpu-compute-mode"),
        (48, 209, "gpu-arch-not-in-build"),
        (63, 304, "no-device-nodes"),
        (77, 700, _USER),
        (4, 719, _USER),
    ],
)
def test_a_number_has_its_cause(old: int, new: int, code: str) -> None:
    for number in (old, new):
        for form in ("THCudaCheck FAIL file=THCGeneral.cpp line=70 error={} : ?", "cuda runtime error ({}) : ?"):
            assert [one.code for one in causes(form.format(number))] == [code], form.format(number)


@pytest.mark.parametrize("number", [0, 1, 10, 11, 71, 101, 223, 500, 600, 801])
def test_a_number_without_a_cause_has_none(number: int) -> None:
    assert causes(f"cuda runtime error ({number}) : ?") == ()


def test_ranks_and_lines_are_no_errors() -> None:
    assert causes("cuda error handler 35 lines\nTHCudaCheck passed, line=35") == ()
