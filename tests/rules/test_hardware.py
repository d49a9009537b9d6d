"""The card itself: faults, link, power and heat, fabric, persistence."""

from __future__ import annotations

from typing import Any

import pytest

from compat.need import as_json
from compat.version import DriverRelease
from doctor.model.facts import Facts
from doctor.model.facts.gpu import GpuNow
from doctor.model.facts.seen import Unseen, WhyNot
from doctor.model.finding import Severity, Status
from tests.machine import driver, gpu, machine, nvml, seen, system, unseen
from tests.rules.case import answer

FELL_OFF = "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
DOUBLE_BIT = "NVRM: Xid (PCI:0000:01:00): 48, pid=1234, An uncorrectable double bit error (DBE) has been detected"
PAGE_FAULT = "NVRM: Xid (PCI:0000:01:00): 31, pid=1234, name=python, MMU Fault"
UNHEARD_OF = "NVRM: Xid (PCI:0000:01:00): 9999, something new"
LOST = nvml(state="error", error="NVMLError_GpuIsLost (15): GPU is lost", code=15)
GONE = Unseen("NVML: NVMLError_GpuIsLost (15): GPU is lost", WhyNot.LOST)


def log(*lines: str) -> Any:
    return system(kernel_log=seen(lines, "/dev/kmsg"))


@pytest.mark.parametrize(
    ("facts", "kind", "severity"),
    [
        (machine(), Status.OK, Severity.ERROR),
        (machine(system=log(FELL_OFF)), Status.BAD, Severity.ERROR),
        (machine(driver=driver(nvml=seen(LOST)), gpus=unseen()), Status.BAD, Severity.ERROR),
        (machine(gpus=seen((gpu(uuid=GONE),))), Status.BAD, Severity.ERROR),
        (machine(system=log(DOUBLE_BIT)), Status.BAD, Severity.WARNING),
        (machine(gpus=seen((gpu(ecc_uncorrected=seen(3)),))), Status.BAD, Severity.WARNING),
        (machine(gpus=seen((gpu(retired_pages_pending=seen(True)),))), Status.BAD, Severity.WARNING),
        (machine(gpus=seen((gpu(remapping_failed=seen(True)),))), Status.BAD, Severity.ERROR),
        (machine(gpus=seen((gpu(remapping_failed=seen(False)),))), Status.OK, Severity.ERROR),
        (machine(gpus=seen((gpu(ecc_corrected=seen(7)),))), Status.OK, Severity.ERROR),
        (machine(system=log(PAGE_FAULT)), Status.OK, Severity.ERROR),  # a program's fault
        (machine(system=log(UNHEARD_OF)), Status.OK, Severity.ERROR),
        (machine(system=system(kernel_log=unseen("needs root"))), Status.OK, Severity.ERROR),
        (machine(system=system(kernel_log=unseen("needs root")), gpus=unseen()), Status.UNKNOWN, Severity.ERROR),
        (machine(gpus=seen(()), pci=seen(())), Status.NOT_APPLICABLE, Severity.ERROR),
    ],
)
def test_ecc_xid(facts: Facts, kind: Status, severity: Severity) -> None:
    found = answer("ecc-xid-hardware-fault", facts)
    assert (found.kind, found.severity) == (kind, severity)


def now(**changes: Any) -> GpuNow:
    return gpu().now._replace(**changes)


@pytest.mark.parametrize(
    ("card", "kind"),
    [
        (gpu(), Status.OK),
        (gpu(link_width=seen(4)), Status.BAD),
        (gpu(link_width=seen(8), link_width_max=seen(8)), Status.NOT_APPLICABLE),
        (gpu(now=now(link_generation=seen(1))), Status.OK),  # idle: it saves power
        (gpu(now=now(link_generation=seen(1), utilisation_percent=seen(99))), Status.BAD),
        (gpu(link_width=unseen()), Status.UNKNOWN),
    ],
)
def test_pcie_link(card: Any, kind: Status) -> None:
    found = answer("pcie-link-degraded", machine(gpus=seen((card,))))
    assert found.kind is kind
    assert not found.blocks_verdict
    assert kind is not Status.BAD or found.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("reasons", "kind"),
    [
        (seen(()), Status.OK),
        (seen(("sw-power-cap",)), Status.OK),
        (seen(("hw-slowdown",)), Status.BAD),
        (seen(("hw-thermal-slowdown", "sw-power-cap")), Status.BAD),
        (seen(("sw-thermal-slowdown",)), Status.BAD),
        (seen(("hw-power-brake-slowdown",)), Status.BAD),
        (unseen(), Status.UNKNOWN),
    ],
)
def test_power_thermal(reasons: Any, kind: Status) -> None:
    found = answer("power-thermal", machine(gpus=seen((gpu(now=now(throttle_reasons=reasons)),))))
    assert found.kind is kind
    assert not found.blocks_verdict


JOINED = seen((gpu("NVIDIA H100 80GB HBM3", "9.0", has_fabric=seen(True)),))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Status.NOT_APPLICABLE),
        (machine(gpus=JOINED, driver=driver(fabric_manager=seen("running"))), Status.OK),
        (machine(gpus=JOINED, driver=driver(fabric_manager=seen("stopped"))), Status.BAD),
        (machine(gpus=JOINED), Status.BAD),
        (machine(gpus=JOINED, driver=driver(fabric_manager=unseen())), Status.UNKNOWN),
        (machine(gpus=JOINED, system=system(container=seen("docker"))), Status.NOT_APPLICABLE),
        (machine(gpus=JOINED, system=system(machine=seen("aarch64"))), Status.NOT_APPLICABLE),
    ],
)
def test_fabric_manager(facts: Facts, kind: Status) -> None:
    assert answer("fabric-manager-not-running", facts).kind is kind


def test_a_stopped_fabric_manager_is_started_an_absent_one_installed_in_the_drivers_release() -> None:
    stopped = machine(gpus=JOINED, driver=driver(fabric_manager=seen("stopped")))
    assert as_json(answer("fabric-manager-not-running", stopped).needs[0]).product == "service"
    absent = answer("fabric-manager-not-running", machine(gpus=JOINED)).needs[0]
    assert as_json(absent)[:2] == ("fabric-manager", "==580.95.05")


@pytest.mark.parametrize(("release", "product"), [("580.65.06", "fabric-manager"), ("580.95.05", "service")])
def test_a_fabric_manager_of_another_release_is_not_started_but_replaced(release: str, product: str) -> None:
    stopped = driver(fabric_manager=seen("stopped"), fabric_release=seen(DriverRelease.parse(release)))
    found = answer("fabric-manager-not-running", machine(gpus=JOINED, driver=stopped))
    assert as_json(found.needs[0]).product == product
    assert (", and works only with its own version" in found.why) is (product == "fabric-manager")


def servers(*, persistence: bool, number: int = 2) -> Any:
    return seen(tuple(gpu(number=at, ecc_enabled=seen(True), persistence=seen(persistence)) for at in range(number)))


@pytest.mark.parametrize(
    ("gpus", "kind"),
    [
        (servers(persistence=True), Status.OK),
        (servers(persistence=False), Status.BAD),
        (servers(persistence=False, number=1), Status.NOT_APPLICABLE),
        (seen((gpu(persistence=seen(False)), gpu(number=1))), Status.NOT_APPLICABLE),  # workstation cards
        (unseen(), Status.UNKNOWN),
    ],
)
def test_persistence_off(gpus: Any, kind: Status) -> None:
    found = answer("persistence-off", machine(gpus=gpus))
    assert found.kind is kind
    assert kind is not Status.BAD or found.severity is Severity.INFO


@pytest.mark.parametrize("code", ["mig-misconfigured", "pcie-link-degraded", "power-thermal"])
def test_without_a_card_nothing_is_unknown_about_it(code: str) -> None:
    assert answer(code, machine(gpus=unseen("NVML was not found"), pci=seen(()))).kind is Status.NOT_APPLICABLE
    assert answer(code, machine(gpus=unseen("NVML was not found"))).kind is Status.UNKNOWN
