"""The installed driver release does not support this GPU."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, InstallDriver, Need
from compat.row import GenerationRow
from doctor.model.facts import Facts, Machine
from doctor.model.facts.gpu import PciDevice
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.cards import driver_here, driver_needed, refused, refused_on_bus
from doctor.rules.shared.conditions import (
    FAILED_START,
    NO_ROOM,
    OPEN_ONLY,
    kernel_says,
    need_kernel_driver,
    nvml_works,
    on_host,
    undriven,
)
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

# Messages of the kernel module (nvidia/nv-pci.c and its binary part), quoted in NVIDIA/open-gpu-kernel-modules
# issues 393 and 696; the words between differ from branch to branch.
_LEGACY = r"supported through the NVIDIA (\d{2,4})\.\S* Legacy drivers"
_NO_GSP = r"not supported by open nvidia\.ko because it does not include"
_UNSUPPORTED = r"installed in this system is not supported by the (?:NVIDIA )?([\d.]+) (?:NVIDIA )?\S*.{0,20}driver"
_PROPRIETARY = "Install the driver with the proprietary kernel module (packages without -open): this GPU has no GSP."

_Refused = tuple[PciDevice, GenerationRow, str]  # a card, its generation, and why the driver does not start it


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The kernel log says so of a card that NVML does not show, or the matrix by its id on PCI."""
    if {"driver", "gpus"} <= {*facts.assumed}:
        return _of_assumed(facts, matrix)
    need_kernel_driver(facts)
    if nvml_works(facts) and not undriven(facts):
        return ok("the driver lists every card")
    said = kernel_says(facts)
    card = _by_its_id(facts, matrix)
    found = _match(said)
    if card:
        return _unsupported(facts, card, card[2], driver_needed(facts, matrix))
    if found:
        return _unsupported(facts, card, *found)
    if undriven(facts) and not any(text in said for text in (OPEN_ONLY, NO_ROOM, FAILED_START)):
        log = (
            "gives no reason"
            if isinstance(facts.system.kernel_log, Seen)
            else ("has the reason: sudo dmesg | grep NVRM")
        )
        raise UnseenError(f"the driver does not list the card at PCI {undriven(facts)[0]}; the kernel log {log}")
    return ok("the kernel log shows no card that the driver refuses")


def _of_assumed(facts: Facts, matrix: Matrix) -> Answer:
    """Whether the driver that was named drives every GPU that was; of its flavour nobody spoke."""
    release = facts.driver.release.get()
    for gpu in facts.gpus.get():
        row = matrix.generation(gpu.capability.get())
        if why := refused(row, release, "", matrix):
            return bad(
                f"driver {release} does not support {gpu.label}: {why}",
                on_host(facts, driver_needed(facts, matrix), f"install a driver that supports it: {why}"),
                evidence=(Evidence(why, label=f"matrix, gpu.generations, {row.id}"),),
            )
    return ok(f"driver {release} supports every given GPU")


def _match(said: str) -> tuple[str, Need] | None:
    import re

    legacy = re.search(_LEGACY, said)
    if legacy:
        branch = legacy[1]
        return f"only the {branch} legacy branch supports it", InstallDriver(f">={branch},<{int(branch) + 1}")
    if re.search(_NO_GSP, said):
        return "the open kernel module does not support it", Advice(_PROPRIETARY)
    refused = re.search(_UNSUPPORTED, said)
    if not refused:
        return None
    branch = int(refused[1].partition(".")[0])
    return f"version {refused[1]} does not support it", InstallDriver(f">={branch + 1}")


def _by_its_id(facts: Facts, matrix: Matrix) -> _Refused | None:
    """A card on PCI that NVML does not show, of a generation that this driver does not start by the matrix.

    A card that only lacks the open flavour has a rule of its own.
    """
    shown = nvml_works(facts)
    addresses = undriven(facts) if shown else tuple(one.address for one in value_or(facts.pci, ()))
    release, flavour = driver_here(facts)
    refused = refused_on_bus(facts, addresses, release, "" if flavour == "proprietary" else flavour, matrix)
    return next(refused, None)


def _unsupported(facts: Facts, card: _Refused | None, why: str, need: Need) -> Answer:
    """What the matrix knows of the card decides on the branch; what the log says, of a card that it does not know.

    It is information where the driver drives another GPU.
    """
    from_log = _match(kernel_says(facts)) is not None
    said = Evidence.of(facts.system.kernel_log, "NVRM: the NVIDIA GPU installed in this system is not supported")
    known = [Evidence(f"{card[0].label}: {card[2]}", label=f"matrix, gpu.generations, {card[1].id}")] if card else []
    return bad(
        f"the driver does not support this GPU: {why}",
        on_host(facts, need, "install a driver that supports this GPU"),
        severity=Severity.INFO if nvml_works(facts) and value_or(facts.gpus, ()) else Severity.ERROR,
        evidence=(
            *((said,) if from_log else ()),
            *known,
            *(Evidence.of(facts.pci, f"NVML does not list {address}") for address in undriven(facts)),
        ),
        explains=(Symptom("no-kernel-module"), Symptom("no-device-nodes")),
    )


RULE = Rule(MACHINE, check)
