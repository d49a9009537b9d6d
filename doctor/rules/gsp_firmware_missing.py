"""The driver finds no firmware for the processor on the card."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import ReinstallFirmware
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import FAILED_START, kernel_says, need_own_kernel, nvml_works, undriven
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

# request_firmware's own words (drivers/base/firmware_loader); -2 is ENOENT. With -4, which is a process that was ended
# while it read the file, nothing is missing.
_ABSENT = r"Direct firmware load for nvidia/(\d[\d.]*)/(gsp\w*\.bin)\S* failed with error -2\b"
_EXPLAINED = ("no-device-nodes", "bios-bar-settings", "driver-does-not-support-gpu", "nvml-error")


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """From Turing on the module gives the card's GSP its firmware; without it a card does not start."""
    need_own_kernel(facts)
    if nvml_works(facts) and not undriven(facts):
        return ok("the driver lists every card")
    said = kernel_says(facts)
    absent = re.search(_ABSENT, said)
    if absent is None:
        if not isinstance(facts.system.kernel_log, Seen):
            raise UnseenError("the kernel log cannot be read (sudo dmesg)")
        return ok(
            ("the kernel log shows no missing firmware")
            if FAILED_START not in said
            else "the firmware is not the cause"
        )
    release, file = absent[1], absent[2]
    return bad(
        f"the firmware nvidia/{release}/{file} was not found: the card does not start without it",
        ReinstallFirmware(release, value_or(facts.driver.module_source, "")),
        evidence=(Evidence.of(facts.system.kernel_log, absent[0]),),
        explains=tuple(map(Symptom, _EXPLAINED)),
    )


RULE = Rule(MACHINE, check)
