"""cudnn-copies-conflict."""

from __future__ import annotations

import pytest

from compat.need import DropFromPath, as_json
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.finding import Severity, Status
from tests.machine import cudnn_copy, machine, seen, unseen
from tests.rules.case import answer
from tests.rules.cudnn import OPT, other, path_variable

CODE = "cudnn-copies-conflict"
EIGHT, SYSTEM = "/opt/cudnn8/lib", "/usr/lib/x86_64-linux-gnu"
WHEEL = cudnn_copy()
NINE_FIRST = other("9.5.1", OPT, 0)
EIGHT_SECOND = other("8.9.7", EIGHT, 1)
IN_SYSTEM = other("9.10.2", SYSTEM, 2, origin="distribution", owner="libcudnn9-cuda-12 9.10.2.21-1")
EIGHT_IN_SYSTEM = other("8.9.7", SYSTEM, 2, origin="distribution", owner="libcudnn8 8.9.7.29-1+cuda12.2")


@pytest.mark.parametrize(
    ("copies", "kind"),
    [
        ((WHEEL,), Status.OK),
        ((WHEEL, other("9.5.1", OPT, None)), Status.OK),  # nobody searches it
        ((WHEEL, NINE_FIRST), Status.OK),  # one on the path
        ((NINE_FIRST, EIGHT_SECOND), Status.BAD),  # both by LD_LIBRARY_PATH
        ((NINE_FIRST, IN_SYSTEM), Status.BAD),  # the same names, two releases
        ((IN_SYSTEM, EIGHT_IN_SYSTEM), Status.OK),  # as Debian ships them side by side
        ((NINE_FIRST, other("9.5.1", "/opt/twin/lib", 1)), Status.OK),
        ((NINE_FIRST, other("9.10.2", EIGHT, 1, version=unseen("no symbol"))), Status.OK),
    ],
)
def test_copies(copies: tuple[CudnnCopy, ...], kind: Status) -> None:
    assert answer(CODE, machine(cudnn=seen(copies), **path_variable(OPT, EIGHT))).kind is kind


def test_the_older_one_leaves_the_variable() -> None:
    found = answer(CODE, machine(cudnn=seen((NINE_FIRST, EIGHT_SECOND)), **path_variable(OPT, EIGHT)))
    assert found.severity is Severity.WARNING
    assert found.needs == (DropFromPath("LD_LIBRARY_PATH", EIGHT, "~/.bashrc, line 118"),)
    assert "9.5.1" in found.why
    assert "8.9.7" in found.why


def test_without_a_variable_a_person_decides() -> None:
    local = other("9.5.1", "/usr/local/lib", 1, origin="directory")
    found = answer(CODE, machine(cudnn=seen((local, IN_SYSTEM))))
    assert [as_json(need).product for need in found.needs] == ["by-hand"]


def test_unseen_copies_are_unknown() -> None:
    assert answer(CODE, machine(cudnn=unseen("not readable"))).kind is Status.UNKNOWN
