"""Errors of CUDA by their number alone, in both numberings: before CUDA 10.1, and since."""

from __future__ import annotations

import pytest

from tests.commands.explain.test_messages import causes

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


BOXED = "docker run --gpus all app\n"


@pytest.mark.parametrize(
    ("number", "code", "boxed"),
    [
        (3, "no-device-nodes", "no-device-nodes"),
        (34, "", "container-without-gpu-runtime"),
        (35, "driver-too-old-for-runtime", "container-without-gpu-runtime"),
        (46, "gpu-compute-mode", "gpu-compute-mode"),
        (100, "cuda-visible-devices-empty-or-invalid", "container-without-gpu-runtime"),
        (500, "container-without-gpu-runtime", "container-without-gpu-runtime"),
        (802, "fabric-manager-not-running", "fabric-manager-not-running"),
        (803, "driver-library-mismatch", "driver-library-mismatch"),
        (804, "forward-compat-mistake", "forward-compat-mistake"),
        (999, "uvm-broken-after-suspend", "uvm-broken-after-suspend"),
        (805, "", ""),
    ],
)
def test_a_number_that_the_driver_answers_has_its_cause(number: int, code: str, boxed: str) -> None:
    for form in ("nvcuda init failure: {}", "cuInit err: {}"):
        for before, expected in (("", code), (BOXED, boxed)):
            assert [one.code for one in causes(before + form.format(number))][:1] == [expected] * bool(expected)


@pytest.mark.parametrize(
    ("release", "system", "code"),
    [
        ("525.60.12", "Debian", "driver-too-old-for-runtime"),
        ("525.60.13", "Debian", ""),
        ("525.60.14", "Debian", ""),
        ("527.40", "Microsoft Windows 11", "driver-too-old-for-runtime"),
        ("527.41", "Microsoft Windows 11", ""),
        ("527.42", "Microsoft Windows 11", ""),
    ],
)
def test_the_driver_of_a_dump_is_too_old_below_the_floor_of_its_cuda(release: str, system: str, code: str) -> None:
    dump = f"CUDA used to build PyTorch: 12.8\nOS: {system}\nIs CUDA available: False\nNvidia driver version: {release}"
    for answer, expected in (("False", code), ("True", "")):
        found = [one.code for one in causes(dump.replace("False", answer)) if one.code == "driver-too-old-for-runtime"]
        assert found == [expected] * bool(expected)


def test_ranks_and_lines_are_no_errors() -> None:
    assert causes("cuda error handler 35 lines\nTHCudaCheck passed, line=35") == ()
