"""corrupted-install: libraries of RECORD that are not there, with and without a process that asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import ChangePackages, InstallPackage, Need
from doctor.model.facts.environment import HalfInstalled, Incomplete
from doctor.model.facts.loader import Outcome
from doctor.model.finding import Severity, Status, Symptom
from tests.machine import SITE, VENV, cudnn_copy, environment, framework, loader, machine, prediction, seen, unseen
from tests.rules.case import answer

CODE = "corrupted-install"
CUFFT = f"{SITE}/nvidia/cufft/lib/libcufft.so.11"
CUFFTW = f"{SITE}/nvidia/cufft/lib/libcufftw.so.11"
OWN = f"{SITE}/torch/lib/libtorch_cuda.so"
DEEP = f"{SITE}/torch/bin/x/libother.so"


def lacking(*found: Incomplete, lost: tuple[str, ...] = (), **changes: Any) -> Any:
    """A machine whose environment has these packages that are not whole; `lost` is asked for in vain."""
    predictions = tuple(
        prediction(soname=name, way=None, outcome=Outcome.MISSING)._replace(path=unseen("no such file"))
        for name in lost
    )
    return machine(
        environments=seen((environment(incomplete=seen(found)),)),
        loader=loader(predictions=seen((prediction(), *predictions))),
        **changes,
    )


def of_torch(*paths: str, damaged: tuple[str, ...] = ()) -> Incomplete:
    return Incomplete("torch", "2.9.1", paths, damaged)


def of_cufft(*paths: str) -> Incomplete:
    return Incomplete("nvidia-cufft-cu12", "11.3.3.83", paths, ())


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (machine(environments=seen((environment(leftovers=(f"{SITE}/~umpy",)),))), Status.BAD),
        (lacking(of_torch(OWN)), Status.BAD),
        (lacking(of_torch(damaged=(OWN,))), Status.BAD),
        (lacking(of_cufft(CUFFT)), Status.BAD),
        (machine(environments=seen((environment(incomplete=unseen()),))), Status.UNKNOWN),
        (machine(environments=unseen()), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        (lacking(of_torch(OWN)), Severity.ERROR),
        (lacking(of_torch(DEEP)), Severity.WARNING),  # may have been left out on purpose
        (lacking(of_cufft(CUFFTW)), Severity.WARNING),
        (lacking(of_cufft(CUFFT), lost=("libcufft.so.11",)), Severity.ERROR),
        (lacking(of_cufft(CUFFT), lost=("libcublas.so.12",)), Severity.WARNING),
    ],
)
def test_what_is_asked_for_is_an_error(facts: Any, severity: Severity) -> None:
    assert answer(CODE, facts).severity is severity


@pytest.mark.parametrize(
    ("facts", "need"),
    [
        (lacking(of_torch(OWN)), InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128")),
        (
            lacking(of_cufft(CUFFT)),
            InstallPackage("nvidia-cufft-cu12", "==11.3.3.83", f"{VENV}/bin/python", reinstall=True),
        ),
        (
            lacking(of_cufft(CUFFTW), of_torch(OWN)),
            ChangePackages(("torch==2.9.1", "nvidia-cufft-cu12==11.3.3.83"), f"{VENV}/bin/python"),
        ),
    ],
)
def test_the_same_release_anew(facts: Any, need: Need) -> None:
    assert answer(CODE, facts).needs == (need,)


def test_it_explains_what_a_process_does_not_find() -> None:
    label = framework().label
    found = answer(CODE, lacking(of_cufft(CUFFT), lost=("libcufft.so.11",)))
    assert Symptom("cudart-soname-missing", label) in found.explains
    found = answer(CODE, lacking(of_cufft(CUFFT), lost=("libcufft.so.11", "libcublas.so.12")))
    assert Symptom("cudart-soname-missing", label) not in found.explains


def test_a_cudnn_that_lost_files_with_the_rest_comes_anew_with_it() -> None:
    copy = cudnn_copy(missing=seen((f"{SITE}/nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9",)))
    found = answer(CODE, lacking(of_cufft(CUFFT), cudnn=seen((copy,))))
    assert found.needs == (
        ChangePackages(("nvidia-cufft-cu12==11.3.3.83", "nvidia-cudnn-cu12==9.10.2.21"), f"{VENV}/bin/python"),
    )
    assert Symptom("cudnn-install-incomplete", copy.label) in found.explains
    assert answer(CODE, lacking(cudnn=seen((copy,)))).kind is Status.OK  # it has a code of its own


def test_half_installed_is_the_cause_of_what_its_riders_lack() -> None:
    """torchvision asks for libc10.so: no package of the system has it."""
    vision = framework("torchvision", "0.24.1", requires=seen(()))
    half = HalfInstalled("torch", "torch", (f"{SITE}/torch", f"{SITE}/~orch"), "2.9.1+cu128")
    here = environment(vision)._replace(half_installed=seen((half,)))
    found = answer(CODE, machine(environments=seen((here,))))
    assert (found.severity, found.needs) == (
        Severity.ERROR,
        (InstallPackage("torch", "==2.9.1", f"{VENV}/bin/python", "cu128"),),
    )
    assert Symptom("needed-library-missing", vision.label) in found.explains
    assert Symptom("framework-import-crash", f"import of torch in {VENV}") in found.explains
    unknown = here._replace(half_installed=seen((half._replace(version=""),)))
    (need,) = answer(CODE, machine(environments=seen((unknown,)))).needs
    assert need == InstallPackage("torch", "", f"{VENV}/bin/python")
