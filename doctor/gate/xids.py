"""What each Xid in the kernel's log asks for, by NVIDIA's catalogue (rows of `xid`) and by the driver's word since."""

from __future__ import annotations

from compat.matrix import Matrix, Uncovered
from compat.record import NamedTuple
from compat.row import XidRow
from doctor.facts import Facts
from doctor.facts.gpu import Gpu
from doctor.facts.seen import value_or
from doctor.rules.shared.conditions import logged_xids

NOTHING, APPLICATION, RESET, RESTART, REPLACEMENT = "nothing", "application", "reset", "restart", "replacement"
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
_ANNOUNCES = "XID_154"  # "GPU recovery action changed": what it asks for is the driver's recovery action


class Asked(NamedTuple):
    """One Xid of this boot, and what it asks for."""

    xid: int
    address: str  # as the log has it, "0000:01:00"
    action: str  # one of those above; "" where no row knows
    says: str

    @property
    def holds_work_up(self) -> bool:
        """Whether the node takes no work until that is done; one that nobody knows does."""
        return self.action not in {NOTHING, APPLICATION}


def asked(facts: Facts, matrix: Matrix) -> tuple[Asked, ...]:
    """Each Xid of the log once for a card, in order; none where the log could not be read."""
    return tuple(_asked(xid, address, facts, matrix) for address, xid in logged_xids(facts))


def _asked(xid: int, address: str, facts: Facts, matrix: Matrix) -> Asked:
    try:
        row = matrix.xid(xid)
    except Uncovered:
        return Asked(xid, address, "", "no row of the matrix knows it")
    action = _action(row)
    card = _card(address, facts)
    if card and value_or(card.recovery, "") == "none" and _is_settled(row, action):
        action = NOTHING  # the driver's word of now is newer than its log
    return Asked(xid, address, action, row.description)


def _action(row: XidRow) -> str:
    if row.resolution == _ANNOUNCES:
        return RESET
    return _BUCKETS.get(row.resolution or "", _FAULTS.get(row.fault, ""))


def _is_settled(row: XidRow, action: str) -> bool:
    """Whether it can be over since: a reset can have been done, a fault of the hardware stays one."""
    return row.resolution == _ANNOUNCES or (action == RESET and row.fault != "hardware")


def _card(address: str, facts: Facts) -> Gpu | None:
    """The log's "0000:01:00" is NVML's "0000:01:00.0"."""
    wanted = address.lower().partition(".")[0]
    cards = value_or(facts.gpus, ())
    return next((one for one in cards if value_or(one.pci_address, "").partition(".")[0] == wanted), None)
