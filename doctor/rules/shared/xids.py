"""Xids of the kernel's log: which there are, and what each asks for, by NVIDIA's catalogue and by its own text."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from compat.row import XidRow
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or

NOTHING, APPLICATION, RESET, RESTART, REPLACEMENT = "nothing", "application", "reset", "restart", "replacement"
ANNOUNCES = "XID_154"  # "GPU recovery action changed": what it asks for is the driver's recovery action
# The catalogue's buckets of immediate resolution. Its workflows, and codes without a bucket, go by whose fault it is.
_BUCKETS = {
    "IGNORE": NOTHING,
    "RESTART_APP": APPLICATION,
    "WORKFLOW_XID_45": APPLICATION,
    "RESET_GPU": RESET,
    "WORKFLOW_XID_48": RESET,
    "WORKFLOW_NVLINK_ERR": RESET,
    "WORKFLOW_NVLINK5_ERR": RESET,
    "RESTART_BM": RESTART,
    "RESTART_VM": RESTART,
    "CHECK_UVM": RESTART,
    "UPDATE_SWFW": RESTART,
    "CHECK_MECHANICALS": REPLACEMENT,
    "CONTACT_SUPPORT": REPLACEMENT,
}
_FAULTS = {"event": NOTHING, "software": APPLICATION, "gone": REPLACEMENT, "hardware": REPLACEMENT}
# nvmlDeviceGpuRecoveryAction_t, nvml.h; every other number keeps work off the GPU, too.
_RECOVERIES = {0: NOTHING, 2: RESTART, 7: RESTART}
_CHANGED = (
    r"recovery action changed from 0x[0-9a-f]{1,8} \([^)\n]{0,60}\) "
    r"to 0x(?P<number>[0-9a-f]{1,8}) \((?P<name>[^)\n]{1,60})\)"
)
# The driver's own line, with what a logger or dmesg writes before it: other lines hold words that any user can choose,
# such as the name of a control group. Sources: PRINTK_CALLER of the kernel; NVIDIA/open-gpu-kernel-modules,
# kernel_rc.c, which names the MIG instance behind the card.
_XID = (
    r"(?:(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-[\dT:.+-]+) \S+ kernel: )?(?:\[ *[\d.]+\] ?)?(?:\[ *[TC]\d+\] ?)?"
    r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{4,16})(?: GPU-I:\d+)?(?: GPU-CI:\d+)?\): (\d{1,4})"
)


class LoggedXid(NamedTuple):
    """One Xid of a card, with the last text that the log has of it."""

    address: str  # as the log has it, "0000:01:00"
    xid: int
    text: str  # behind the number, ", pid=77, DBE"


def logged_xids(facts: Facts) -> tuple[LoggedXid, ...]:
    """Each Xid in the kernel's log once for a card, in order; none where the log could not be read."""
    found = [re.match(_XID, line) for line in value_or(facts.system.kernel_log, ())]
    texts = {(one[1], int(one[2])): one.string[one.end() :] for one in found if one}
    return tuple(LoggedXid(address, xid, text) for (address, xid), text in texts.items())


def action_of(row: XidRow, text: str) -> str:
    """What an Xid asks for, one of the actions above; "" where the catalogue does not say."""
    if row.resolution == ANNOUNCES:
        named = recovery_of(text)
        return _RECOVERIES.get(named[0], RESET) if named else RESET
    return _BUCKETS.get(row.resolution or "", _FAULTS.get(row.fault, ""))


def recovery_of(text: str) -> tuple[int, str] | None:
    """The recovery action that a text of Xid 154 announces, "Node Reboot Required"; None where it names none."""
    found = re.search(_CHANGED, text, re.IGNORECASE)
    return (int(found["number"], 16), found["name"]) if found else None
