"""What counts as found after an installation, and which faults count."""

from __future__ import annotations

import pytest

from compat.need import InstallCudnn, InstallDriver, InstallPackage, InstallToolkit, Need
from doctor.commands.install.verify_installed import described, found_for, label_of
from doctor.model.facts import Facts
from tests.machine import cudnn_copy, driver, machine, seen, system, unseen

COPY = cudnn_copy()


@pytest.mark.parametrize(
    ("need", "is_found"),
    [
        (InstallCudnn(directory=COPY.path), True),
        (InstallCudnn("==9.10.2", COPY.path), True),
        (InstallCudnn("==9.10.2.21"), True),
        (InstallCudnn("==9.11.0"), False),
        (InstallCudnn(">=9.10,<10"), True),
        (InstallCudnn(">=9.11,<10"), False),
        (InstallCudnn(directory="/elsewhere"), False),
        (InstallToolkit("==12.8.*"), True),
        (InstallToolkit("==12.9.*"), False),
        (InstallToolkit(directory="/elsewhere"), False),
        (InstallDriver("==580.*"), True),
        (InstallDriver("==570.*"), False),
        (InstallPackage("torch", "==2.9.1"), True),
        (InstallPackage("torch", "==2.9.0"), False),
        (InstallPackage("nvidia-cudnn-cu12", "==9.10.2.21"), True),
        (InstallPackage("never-installed"), False),
    ],
    ids=str,
)
def test_what_is_found(need: Need, is_found: bool) -> None:
    found = found_for(need, machine())
    assert (found is not None) == is_found
    assert found is None or described(found)


def test_a_copy_whose_version_nobody_can_tell_is_not_the_one_that_was_asked_for() -> None:
    facts = machine(cudnn=seen((cudnn_copy()._replace(version=unseen("damaged")),)))
    assert found_for(InstallCudnn("==9.10.2"), facts) is None
    assert found_for(InstallCudnn(), facts) is not None


def test_libraries_of_a_driver_are_not_the_driver_that_runs() -> None:
    """After an update and before the restart the libraries are newer than the module."""
    facts: Facts = machine(driver=driver(module_release=unseen("no module is loaded")))
    assert found_for(InstallDriver("==580.*"), facts) is None
    inside = machine(driver=driver(module_release=unseen("WSL")), system=system(wsl=seen(2)))
    assert found_for(InstallDriver("==580.*"), inside) is not None


def test_findings_are_about_frameworks_and_copies() -> None:
    wheel = InstallPackage("nvidia-cudnn-cu12")
    needs: tuple[Need, ...] = (InstallPackage("torch"), InstallCudnn(), InstallToolkit(), InstallDriver(), wheel)
    found = [found_for(need, machine()) for need in needs]
    labels = [label_of(one) for one in found if one]
    assert labels[0].startswith("torch 2.9.1")
    assert labels[1].startswith("cuDNN 9.10.2")
    assert labels[2].startswith("CUDA 12.8")
    assert labels[3:] == ["", ""]
