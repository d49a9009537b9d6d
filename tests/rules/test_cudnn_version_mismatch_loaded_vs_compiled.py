"""cudnn-version-mismatch-loaded-vs-compiled."""

from __future__ import annotations

import pytest

from compat.need import InstallPackage
from compat.version import CudnnVersion
from doctor.model.facts import Facts
from doctor.model.finding import Status
from tests.machine import VENV, cudnn_copy, framework, loader, machine, seen, unseen
from tests.rules.case import answer
from tests.rules.cudnn import loading, nothing_found, other

CODE = "cudnn-version-mismatch-loaded-vs-compiled"
CPU = framework(version="2.9.1+cpu", build=seen("cpu"), cudnn=unseen("a CPU build"), cuda=unseen("a CPU build"))


@pytest.mark.parametrize(
    ("loaded", "compiled", "kind"),
    [
        ("9.10.2", "9.10.2.21", Status.OK),
        ("9.10.1", "9.10.2", Status.OK),  # patch levels serve both ways
        ("9.12.0", "9.10.2", Status.OK),
        ("9.5.1", "9.10.2", Status.BAD),
        ("8.9.7", "9.10.2", Status.NOT_APPLICABLE),  # cudnn-wrong-major says so
    ],
)
def test_releases(loaded: str, compiled: str, kind: Status) -> None:
    torch = framework(cudnn=seen(CudnnVersion.parse(compiled)))
    assert answer(CODE, loading(other(loaded), torch=torch)).kind is kind


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (loading(other(version=unseen("no symbol"))), Status.UNKNOWN),
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
        (machine(loader=loader(predictions=seen(()))), Status.UNKNOWN),
        (machine(cudnn=unseen("not readable")), Status.UNKNOWN),
        (machine(cudnn=seen(())), Status.UNKNOWN),
        (nothing_found(framework()), Status.NOT_APPLICABLE),
        (loading(cudnn_copy(), torch=CPU), Status.NOT_APPLICABLE),
        (loading(cudnn_copy(), torch=framework("xformers", "0.0.33", cudnn=unseen())), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_pinned_wheel_mends_it() -> None:
    need = answer(CODE, loading(other("9.5.1"))).needs[0]
    assert need == InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", f"{VENV}/bin/python", reinstall=True)
