"""zlibwapi-missing."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.finding import Status
from tests.machine import cudnn_part, machine, seen, system, unseen
from tests.rules.case import answer
from tests.rules.cudnn import other

CODE = "zlibwapi-missing"
FOLDER = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v11.8/bin"


def windows_copy(version: str, companions: Any) -> CudnnCopy:
    """cuDNN in a toolkit's bin folder."""
    dll = cudnn_part("cudnn64_8.dll", version, FOLDER)
    return other(version, FOLDER, origin="windows", parts=seen((dll,)), companions=companions)


@pytest.mark.parametrize(
    ("version", "companions", "kind"),
    [
        ("8.9.3", seen(()), Status.BAD),
        ("8.3.0", seen(()), Status.BAD),
        ("9.1.0", seen(()), Status.NOT_APPLICABLE),
        ("8.9.3", seen(("zlibwapi.dll",)), Status.OK),
        ("8.9.3", seen(("ZLIBWAPI.DLL",)), Status.OK),
        ("8.2.4", seen(()), Status.NOT_APPLICABLE),
        ("8.9.4", seen(()), Status.NOT_APPLICABLE),  # linked statically from here on
        ("8.9.3", unseen("not looked for"), Status.UNKNOWN),
    ],
)
def test_windows(version: str, companions: Any, kind: Status) -> None:
    facts = machine(system=system(family=seen("windows")), cudnn=seen((windows_copy(version, companions),)))
    assert answer(CODE, facts).kind is kind


def test_elsewhere_it_does_not_apply() -> None:
    assert answer(CODE, machine(cudnn=seen((windows_copy("8.9.3", seen(())),)))).kind is Status.NOT_APPLICABLE
