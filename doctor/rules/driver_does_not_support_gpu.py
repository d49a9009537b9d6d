"""The installed driver release does not support this GPU."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from doctor.facts import Facts, Machine
from doctor.facts.seen import Seen, UnseenError, how
from doctor.finding import Answer, Evidence, Symptom, bad, ok
from doctor.judging.conditions import (
    FAILED_START,
    NO_ROOM,
    OPEN_ONLY,
    kernel_says,
    need_kernel_driver,
    nvml_works,
    on_host,
    undriven,
)
from doctor.rule import Rule
from doctor.subjects import MACHINE

# Messages of the kernel module (nvidia/nv-pci.c and its binary part), quoted in NVIDIA/open-gpu-kernel-modules
# issues 393 and 696; the words between differ from branch to branch.
_LEGACY = r"supported through the NVIDIA (\d{2,4})\.\S* Legacy drivers"
_NO_GSP = r"not supported by open nvidia\.ko because it does not include"
_UNSUPPORTED = r"installed in this system is not supported by the (?:NVIDIA )?([\d.]+) (?:NVIDIA )?\S*.{0,20}driver"
_PROPRIETARY = "Install the proprietary flavour of the driver (the packages without -open): this GPU has no GSP."


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The kernel log says so of a card that NVML does not show."""
    need_kernel_driver(facts)
    if nvml_works(facts) and not undriven(facts):
        return ok("the driver shows every card")
    said = kernel_says(facts)
    found = _match(said)
    if found:
        return _unsupported(facts, *found)
    if undriven(facts) and not any(text in said for text in (OPEN_ONLY, NO_ROOM, FAILED_START)):
        log = (
            "gives no reason" if isinstance(facts.system.kernel_log, Seen) else "would say why: sudo dmesg | grep NVRM"
        )
        raise UnseenError(f"the driver does not show the card at PCI {undriven(facts)[0]}; the kernel log {log}")
    return ok("the kernel log has no card that the driver refuses")


def _match(said: str) -> tuple[str, Need] | None:
    import re

    legacy = re.search(_LEGACY, said)
    if legacy:
        branch = legacy[1]
        return f"it is supported by the {branch} legacy branch only", Need("driver", f">={branch},<{int(branch) + 1}")
    if re.search(_NO_GSP, said):
        return "the open kernel module does not support it", Need("by-hand", _PROPRIETARY)
    refused = re.search(_UNSUPPORTED, said)
    if not refused:
        return None
    branch = int(refused[1].partition(".")[0])
    return f"release {refused[1]} does not know it", Need("driver", f">={branch + 1}")


def _unsupported(facts: Facts, why: str, need: Need) -> Answer:
    return bad(
        f"the driver does not support this GPU: {why}",
        on_host(facts, need, "install a driver that supports this GPU"),
        evidence=(
            Evidence(how(facts.system.kernel_log), "NVRM: the NVIDIA GPU installed in this system is not supported"),
            *(Evidence(how(facts.pci), f"{address} is not shown by NVML") for address in undriven(facts)),
        ),
        explains=(Symptom("no-kernel-module"), Symptom("no-device-nodes")),
    )


RULE = Rule("The installed driver release does not support this GPU", MACHINE, check)
