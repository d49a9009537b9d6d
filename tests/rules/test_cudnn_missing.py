"""cudnn-missing."""

from __future__ import annotations

import pytest

from compat.need import InstallCudnn, InstallPackage, as_json
from compat.version import CudnnVersion
from doctor.model.facts import Facts, Machine
from doctor.model.facts.cudnn import CudnnCopy
from doctor.model.facts.environment import Framework
from doctor.model.finding import Severity, Status
from tests.machine import VENV, distribution, environment, framework, loader, machine, seen, toolkits, unseen
from tests.rules.case import answer
from tests.rules.cudnn import OPT, nothing_found, other

CODE = "cudnn-missing"
TORCH = framework()
TENSORFLOW = framework("tensorflow", "2.15.0", cudnn=seen(CudnnVersion.parse("8.9")), requires=seen(()))
EXTRA = ("nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == 'and-cuda'",)
ROOT = Machine("root", "/mnt")
NO_GPU = {"gpus": seen(()), "pci": seen(())}
NO_TOOLKIT = toolkits()._replace(toolkits=seen(()))
NO_WHEELS = {
    "environments": seen((environment(TENSORFLOW, distributions=seen((distribution("tensorflow", "2.15.0"),))),))
}


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.OK),
        (nothing_found(TORCH), Status.BAD),
        (nothing_found(TORCH, **NO_GPU), Status.BAD),  # a required wheel: the import itself fails
        (nothing_found(TORCH, other("9.5.1", OPT, None)), Status.BAD),  # a copy that nobody searches
        (nothing_found(TORCH, other(), missing=False), Status.UNKNOWN),
        (nothing_found(TORCH, missing=False), Status.UNKNOWN),  # what we could not read is no fault of the machine
        (nothing_found(TORCH, machine=ROOT), Status.BAD),
        (nothing_found(TENSORFLOW), Status.BAD),
        (nothing_found(TENSORFLOW._replace(requires=seen(EXTRA)), **NO_GPU, **NO_WHEELS), Status.NOT_APPLICABLE),
        (nothing_found(TENSORFLOW._replace(requires=seen(EXTRA)), **NO_GPU), Status.BAD),  # it is meant for a GPU
        (nothing_found(TENSORFLOW, machine=ROOT, toolkit=toolkits()), Status.BAD),
        (nothing_found(TENSORFLOW, machine=ROOT, toolkit=NO_TOOLKIT, **NO_WHEELS), Status.NOT_APPLICABLE),
        (nothing_found(TENSORFLOW, machine=ROOT, toolkit=NO_TOOLKIT), Status.BAD),
        (machine(loader=loader(predictions=unseen())), Status.UNKNOWN),
        (nothing_found(TORCH)._replace(cudnn=unseen("not readable")), Status.UNKNOWN),
        (nothing_found(framework("xformers", "0.0.33", cudnn=unseen())), Status.NOT_APPLICABLE),
        (nothing_found(framework(version="2.9.1+cpu", build=seen("cpu"))), Status.NOT_APPLICABLE),
    ],
)
def test_kinds(facts: Facts, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_the_pinned_wheel_mends_it() -> None:
    found = answer(CODE, nothing_found(TORCH))
    assert found.needs == (InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21", f"{VENV}/bin/python", reinstall=True),)
    assert "nvidia-cudnn-cu12==9.10.2.21" in found.why


def test_on_an_image_a_library_of_the_system_is_a_warning() -> None:
    found = answer(CODE, nothing_found(TENSORFLOW, machine=ROOT, toolkit=toolkits()))
    assert found.severity is Severity.WARNING
    wheel = InstallPackage("nvidia-cudnn-cu12", "==8.9.4.25", f"{VENV}/bin/python")
    assert found.needs == (wheel, InstallCudnn(">=8.9,<9", cuda="12"))


TENSORFLOW_10 = framework("tensorflow", "2.10.0", cudnn=seen(CudnnVersion.parse("8.1")), requires=seen(()))


@pytest.mark.parametrize(
    ("copy", "first"),
    [
        (other("8.1.0", OPT, None), "variable"),
        (other("8.1.0", OPT, None, origin="toolkit"), "variable"),
        (other("8.9.7", OPT, None), "variable"),
        (other("8.0.5", OPT, None), "cudnn"),  # older than it was built with
        (other("9.1.0", OPT, None), "cudnn"),
        (other("8.9.7", OPT, 3), "cudnn"),  # which is searched, and was not taken
        (other("8.9.7", OPT, None, origin="wheel"), "cudnn"),
        (other("8.9.7", OPT, None, origin="conda"), "cudnn"),
        (other("8.9.7", OPT, None, version=unseen("stripped")), "cudnn"),
    ],
)
def test_only_a_copy_that_lies_outside_the_search_and_fits_is_named_to_it(copy: CudnnCopy, first: str) -> None:
    assert as_json(answer(CODE, nothing_found(TENSORFLOW_10, copy)).needs[0]).product == first


@pytest.mark.parametrize(
    ("version", "framework_there", "first"),
    [
        (
            "8.9.7",
            TENSORFLOW_10,
            "variable",
        ),
        ("8.0.5", TENSORFLOW_10, "cudnn"),
        ("9.5.1", TENSORFLOW_10, "cudnn"),
        ("9.10.2", TORCH, "nvidia-cudnn-cu12"),  # its own wheel
    ],
)
def test_a_copy_that_no_path_names_is_not_fetched_again(version: str, framework_there: Framework, first: str) -> None:
    """TensorFlow as it was until 2.13: cuDNN lies in the toolkit, and LD_LIBRARY_PATH was forgotten."""
    found = answer(CODE, nothing_found(framework_there, other(version, OPT, None)))
    assert as_json(found.needs[0]).product == first
    assert (OPT in as_json(found.needs[0]).spec) is (first == "variable")
    assert ("the installed one is not on its search path" in found.why) is (first == "variable")
