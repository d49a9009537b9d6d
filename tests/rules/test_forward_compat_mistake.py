"""forward-compat-mistake: cuda-compat's libcuda beside an older and a newer kernel module."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import InstallDriver, as_json
from doctor.model.finding import Status
from tests.machine import driver, driver_library, gpu, machine, seen, system, unseen
from tests.rules.case import answer

CODE = "forward-compat-mistake"


def beside(module: str, compat: str, card: str = "NVIDIA H100 80GB HBM3") -> Any:
    """That libcuda of cuda-compat is the one that programs load."""
    libraries = seen((driver_library(release=compat, origin="compat", path=f"/opt/compat/libcuda.so.{compat}"),))
    return machine(driver=driver(module, libraries=libraries), gpus=seen((gpu(card),)))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.NOT_APPLICABLE),
        (beside("535.183.01", "580.95.05"), Status.OK),
        (beside("580.95.05", "580.95.05"), Status.OK),
        (beside("580.159.04", "580.95.05"), Status.BAD),
        (beside("535.183.01", "580.95.05", "NVIDIA GeForce RTX 4090"), Status.BAD),
        (beside("535.183.01", "580.95.05", "NVIDIA RTX A2000"), Status.UNKNOWN),
        (machine(driver=driver(libraries=unseen())), Status.UNKNOWN),
    ],
)
def test_kinds(facts: Any, kind: Status) -> None:
    assert answer(CODE, facts).kind is kind


def test_a_newer_driver_is_advised_only_where_it_is_older() -> None:
    """As on an H100 with driver 580.159.04: CUDA ended with error 803, and no driver was to be installed."""
    (away,) = answer(CODE, beside("580.159.04", "580.95.05")).needs
    assert as_json(away).spec.startswith("Remove /opt/compat from the loader's path: uninstall")
    _, newer = answer(CODE, beside("535.183.01", "580.95.05", "NVIDIA GeForce RTX 4090")).needs
    assert newer == InstallDriver(">=580.95.05")


@pytest.mark.parametrize("where", [system(), system(container=seen("docker"))])
def test_no_driver_is_advised_that_no_longer_drives_the_card(where: Any) -> None:
    """Pascal's last branch is 580, Kepler's 470; in a container the advice is a sentence that nothing else judges."""
    for module, compat, card, capability, wanted in (
        ("535.183.01", "610.43.02", "NVIDIA GeForce GTX 1080", "6.1", 1),
        ("470.256.02", "525.147.05", "NVIDIA GeForce GTX 780", "3.5", 1),
        ("535.183.01", "580.95.05", "NVIDIA GeForce GTX 1080", "6.1", 2),
    ):
        facts = beside(module, compat)._replace(gpus=seen((gpu(card, capability),)), pci=seen(()), system=where)
        assert len(answer(CODE, facts).needs) == wanted
