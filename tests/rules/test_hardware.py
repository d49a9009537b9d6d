"""The card itself: faults, link, power and heat, fabric, persistence."""

from __future__ import annotations

from typing import Any

import pytest

from compat.version import DriverRelease
from doctor.check.finding import Kind, Severity
from doctor.facts import Facts
from doctor.facts.gpu import GpuNow
from doctor.facts.seen import Unseen, WhyNot
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
        (machine(), Kind.OK, Severity.ERROR),
        (machine(system=log(FELL_OFF)), Kind.BAD, Severity.ERROR),
        (machine(driver=driver(nvml=seen(LOST)), gpus=unseen()), Kind.BAD, Severity.ERROR),
        (machine(gpus=seen((gpu(uuid=GONE),))), Kind.BAD, Severity.ERROR),
        (machine(system=log(DOUBLE_BIT)), Kind.BAD, Severity.WARNING),
        (machine(gpus=seen((gpu(ecc_uncorrected=seen(3)),))), Kind.BAD, Severity.WARNING),
        (machine(gpus=seen((gpu(retired_pages_pending=seen(True)),))), Kind.BAD, Severity.WARNING),
        (machine(gpus=seen((gpu(remapping_failed=seen(True)),))), Kind.BAD, Severity.ERROR),
        (machine(gpus=seen((gpu(remapping_failed=seen(False)),))), Kind.OK, Severity.ERROR),
        (machine(gpus=seen((gpu(ecc_corrected=seen(7)),))), Kind.OK, Severity.ERROR),
        (machine(system=log(PAGE_FAULT)), Kind.OK, Severity.ERROR),  # a program's fault
        (machine(system=log(UNHEARD_OF)), Kind.OK, Severity.ERROR),
        (machine(system=system(kernel_log=unseen("needs root"))), Kind.OK, Severity.ERROR),
        (machine(system=system(kernel_log=unseen("needs root")), gpus=unseen()), Kind.UNKNOWN, Severity.ERROR),
        (machine(gpus=seen(()), pci=seen(())), Kind.NOT_APPLICABLE, Severity.ERROR),
    ],
)
def test_ecc_xid(facts: Facts, kind: Kind, severity: Severity) -> None:
    found = answer("ecc-xid-hardware-fault", facts)
    assert (found.kind, found.severity) == (kind, severity)


def now(**changes: Any) -> GpuNow:
    return gpu().now._replace(**changes)


@pytest.mark.parametrize(
    ("card", "kind"),
    [
        (gpu(), Kind.OK),
        (gpu(link_width=seen(4)), Kind.BAD),
        (gpu(link_width=seen(8), link_width_max=seen(8)), Kind.NOT_APPLICABLE),
        (gpu(now=now(link_generation=seen(1))), Kind.OK),  # idle: it saves power
        (gpu(now=now(link_generation=seen(1), utilisation_percent=seen(99))), Kind.BAD),
        (gpu(link_width=unseen()), Kind.UNKNOWN),
    ],
)
def test_pcie_link(card: Any, kind: Kind) -> None:
    found = answer("pcie-link-degraded", machine(gpus=seen((card,))))
    assert found.kind is kind
    assert not found.matters
    assert kind is not Kind.BAD or found.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("reasons", "kind"),
    [
        (seen(()), Kind.OK),
        (seen(("sw-power-cap",)), Kind.OK),
        (seen(("hw-slowdown",)), Kind.BAD),
        (seen(("hw-thermal-slowdown", "sw-power-cap")), Kind.BAD),
        (seen(("sw-thermal-slowdown",)), Kind.BAD),
        (seen(("hw-power-brake-slowdown",)), Kind.BAD),
        (unseen(), Kind.UNKNOWN),
    ],
)
def test_power_thermal(reasons: Any, kind: Kind) -> None:
    found = answer("power-thermal", machine(gpus=seen((gpu(now=now(throttle_reasons=reasons)),))))
    assert found.kind is kind
    assert not found.matters


JOINED = seen((gpu("NVIDIA H100 80GB HBM3", "9.0", has_fabric=seen(True)),))


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (machine(), Kind.NOT_APPLICABLE),
        (machine(gpus=JOINED, driver=driver(fabric_manager=seen("running"))), Kind.OK),
        (machine(gpus=JOINED, driver=driver(fabric_manager=seen("stopped"))), Kind.BAD),
        (machine(gpus=JOINED), Kind.BAD),
        (machine(gpus=JOINED, driver=driver(fabric_manager=unseen())), Kind.UNKNOWN),
        (machine(gpus=JOINED, system=system(container=seen("docker"))), Kind.NOT_APPLICABLE),
        (machine(gpus=JOINED, system=system(machine=seen("aarch64"))), Kind.NOT_APPLICABLE),
    ],
)
def test_fabric_manager(facts: Facts, kind: Kind) -> None:
    assert answer("fabric-manager-not-running", facts).kind is kind


def test_a_stopped_fabric_manager_is_started_an_absent_one_installed_in_the_drivers_release() -> None:
    stopped = machine(gpus=JOINED, driver=driver(fabric_manager=seen("stopped")))
    assert answer("fabric-manager-not-running", stopped).needs[0].product == "service"
    absent = answer("fabric-manager-not-running", machine(gpus=JOINED)).needs[0]
    assert (absent.product, absent.spec) == ("fabric-manager", "==580.95.05")


@pytest.mark.parametrize(("release", "product"), [("580.65.06", "fabric-manager"), ("580.95.05", "service")])
def test_a_fabric_manager_of_another_release_is_not_started_but_replaced(release: str, product: str) -> None:
    stopped = driver(fabric_manager=seen("stopped"), fabric_release=seen(DriverRelease.parse(release)))
    found = answer("fabric-manager-not-running", machine(gpus=JOINED, driver=stopped))
    assert found.needs[0].product == product
    assert ("works with its own alone" in found.why) is (product == "fabric-manager")


def servers(*, persistence: bool, number: int = 2) -> Any:
    return seen(tuple(gpu(number=at, ecc_enabled=seen(True), persistence=seen(persistence)) for at in range(number)))


@pytest.mark.parametrize(
    ("gpus", "kind"),
    [
        (servers(persistence=True), Kind.OK),
        (servers(persistence=False), Kind.BAD),
        (servers(persistence=False, number=1), Kind.NOT_APPLICABLE),
        (seen((gpu(persistence=seen(False)), gpu(number=1))), Kind.NOT_APPLICABLE),  # workstation cards
        (unseen(), Kind.UNKNOWN),
    ],
)
def test_persistence_off(gpus: Any, kind: Kind) -> None:
    found = answer("persistence-off", machine(gpus=gpus))
    assert found.kind is kind
    assert kind is not Kind.BAD or found.severity is Severity.INFO


@pytest.mark.parametrize("code", ["mig-misconfigured", "pcie-link-degraded", "power-thermal"])
def test_without_a_card_nothing_is_unknown_about_it(code: str) -> None:
    assert answer(code, machine(gpus=unseen("NVML was not found"), pci=seen(()))).kind is Kind.NOT_APPLICABLE
    assert answer(code, machine(gpus=unseen("NVML was not found"))).kind is Kind.UNKNOWN
