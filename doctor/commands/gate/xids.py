"""What each Xid in the kernel's log asks for, by NVIDIA's catalogue (rows of `xid`) and by the driver's word since."""

from __future__ import annotations

from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.row import XidRow
from doctor.model.facts import Facts
from doctor.model.facts.seen import value_or
from doctor.rules.shared.xids import ANNOUNCES, APPLICATION, NOTHING, RESET, LoggedXid, action_of, logged_xids


class Asked(NamedTuple):
    """One Xid of this boot, and what it asks for."""

    xid: int
    address: str  # as the log has it, "0000:01:00"
    action: str  # of `doctor.rules.shared.xids`; "" where no row knows
    says: str

    @property
    def holds_work_up(self) -> bool:
        """Whether the node takes no work until that is done; an unknown one does."""
        return self.action not in {NOTHING, APPLICATION}


def xid_events(facts: Facts, matrix: Matrix) -> tuple[Asked, ...]:
    """Each Xid of the log once for a card, in order; none where the log could not be read."""
    return tuple(_asked(one, facts, matrix) for one in logged_xids(facts))


def _asked(logged: LoggedXid, facts: Facts, matrix: Matrix) -> Asked:
    address, xid, text = logged
    try:
        row = matrix.xid(xid)
    except Uncovered:
        return Asked(xid, address, "", "it is unknown to the matrix")
    action = action_of(row, text)
    # The log's "0000:01:00" is NVML's "0000:01:00.0".
    wanted = address.lower().partition(".")[0]
    cards = value_or(facts.gpus, ())
    card = next((one for one in cards if value_or(one.pci_address, "").partition(".")[0] == wanted), None)
    if card and value_or(card.recovery, "") == "none" and _is_settled(row, action):
        action = NOTHING  # the driver's word of now is newer than its log
    return Asked(xid, address, action, row.description)


def _is_settled(row: XidRow, action: str) -> bool:
    """Whether it can be over since: a reset can have been done, a fault of the hardware stays one."""
    return row.resolution == ANNOUNCES or (action == RESET and row.fault != "hardware")
