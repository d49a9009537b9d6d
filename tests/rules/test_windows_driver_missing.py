"""An NVIDIA card under Windows without its driver."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from doctor.model.facts import Facts
from doctor.model.finding import Status
from tests.machine import driver, machine, nvml, pci_device, seen, system, unseen
from tests.rules.case import answer

WINDOWS = system(family=seen("windows"))
NOT_FOUND = seen(nvml(library="", state="not-found", error="NVML Shared Library Not Found", code=12))
BASIC = seen((pci_device(driver="BasicDisplay"),))


def windows(**changes: Any) -> Facts:
    return machine(system=WINDOWS, pci=seen((pci_device(driver="nvlddmkm"),)))._replace(**changes)


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (windows(), Status.OK),
        (windows(pci=BASIC, gpus=unseen(), driver=driver(nvml=NOT_FOUND)), Status.BAD),
        (windows(pci=seen((pci_device(driver=""),)), gpus=unseen(), driver=driver(nvml=NOT_FOUND)), Status.BAD),
        (windows(gpus=unseen(), driver=driver(nvml=NOT_FOUND)), Status.UNKNOWN),  # the driver is bound to the card
        (windows(pci=BASIC, gpus=unseen(), driver=driver(nvml=seen(nvml(state="hung")))), Status.UNKNOWN),
        (windows(pci=unseen(), gpus=unseen(), driver=driver(nvml=NOT_FOUND)), Status.UNKNOWN),
        (windows(pci=seen(()), gpus=seen(()), driver=driver(nvml=NOT_FOUND)), Status.NOT_APPLICABLE),
        (machine(), Status.NOT_APPLICABLE),
    ],
)
def test_the_driver(facts: Facts, kind: Status) -> None:
    assert answer("windows-driver-missing", facts).kind is kind


def test_the_driver_is_what_mends_it() -> None:
    found = answer("windows-driver-missing", windows(pci=BASIC, gpus=unseen(), driver=driver(nvml=NOT_FOUND)))
    assert [as_json(need).product for need in found.needs] == ["driver"]
