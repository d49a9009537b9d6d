"""zlibwapi-missing."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.finding import Kind
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
        ("8.9.3", seen(()), Kind.BAD),
        ("8.3.0", seen(()), Kind.BAD),
        ("9.1.0", seen(()), Kind.NOT_APPLICABLE),
        ("8.9.3", seen(("zlibwapi.dll",)), Kind.OK),
        ("8.9.3", seen(("ZLIBWAPI.DLL",)), Kind.OK),
        ("8.2.4", seen(()), Kind.NOT_APPLICABLE),
        ("8.9.4", seen(()), Kind.NOT_APPLICABLE),  # linked statically from here on
        ("8.9.3", unseen("they were not looked for"), Kind.UNKNOWN),
    ],
)
def test_windows(version: str, companions: Any, kind: Kind) -> None:
    facts = machine(system=system(family=seen("windows")), cudnn=seen((windows_copy(version, companions),)))
    assert answer(CODE, facts).kind is kind


def test_elsewhere_it_does_not_apply() -> None:
    assert answer(CODE, machine(cudnn=seen((windows_copy("8.9.3", seen(())),)))).kind is Kind.NOT_APPLICABLE
