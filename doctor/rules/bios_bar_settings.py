"""The firmware gave the card no room in the address space."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import UnseenError
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import (
    FAILED_START,
    NO_ROOM,
    OPEN_ONLY,
    kernel_says,
    need_kernel_driver,
    nvml_works,
    undriven,
)
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_SETTINGS = (
    "In the firmware setup, turn on 'Above 4G Decoding' and 'Resizable BAR', turn CSM off, and update the firmware. "
    "A virtual machine needs UEFI firmware and a large 64-bit MMIO window. Otherwise try the kernel option pci=realloc."
)


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The kernel module says so when it finds a memory region (BAR) of size or address 0 (nvidia/nv-pci.c)."""
    need_kernel_driver(facts)
    if nvml_works(facts) and not undriven(facts):
        return ok("the driver lists every card")
    said = kernel_says(facts)
    if NO_ROOM in said:
        return bad(
            "the firmware gave the card too little address space, so the driver cannot start it",
            Advice(_SETTINGS),
            evidence=(Evidence.of(facts.system.kernel_log, f"this {NO_ROOM}"),),
            explains=(Symptom("no-kernel-module"), Symptom("no-device-nodes"), Symptom("driver-does-not-support-gpu")),
        )
    if undriven(facts) and FAILED_START in said and OPEN_ONLY not in said:
        raise UnseenError(
            f"the card did not start ('{FAILED_START}'): check 'Above 4G Decoding' in the "
            "firmware, the seating, the power, and the type of the kernel module"
        )
    return ok("the kernel log has no complaint about the card's memory regions")


RULE = Rule(MACHINE, check)
