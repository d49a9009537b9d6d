"""Every Xid of the catalogue: what `explain` says of it follows its row, and agrees with `gate` and `check`."""

from __future__ import annotations

import io

import pytest

from compat.matrix import Matrix
from compat.row import XidRow
from doctor.commands.gate.xids import xid_events
from doctor.messages.causes import Cause, causes_of
from doctor.messages.reading import read
from doctor.model.facts import Facts
from doctor.model.finding import Status
from doctor.rules.shared.xids import NOTHING, RESET, RESTART
from tests.machine import machine, seen, system
from tests.rules.case import answer

MATRIX = Matrix()
ROWS: tuple[XidRow, ...] = MATRIX.rows("xid", "codes")
HARDWARE, USER, RECOVERY = "ecc-xid-hardware-fault", "not-a-stack-problem", "gpu-recovery-needed"
BEGINS = "NVRM: Xid (PCI:0000:3b:00): "


def causes(*texts: str) -> tuple[Cause, ...]:
    return causes_of(read(io.BytesIO("".join(f"[  1.0] {BEGINS}{one}\n" for one in texts).encode())), MATRIX)


def log(*texts: str) -> Facts:
    return machine(system=system(kernel_log=seen(tuple(BEGINS + one for one in texts))))


def changed(number: int, name: str, before: str = "0x0 (None)") -> str:
    return f"154, GPU recovery action changed from {before} to 0x{number} ({name})"


@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_the_class_follows_the_row(row: XidRow) -> None:
    first = causes(f"{row.xid}, pid=77, name=python")[0]
    (says,) = xid_events(log(f"{row.xid}, pid=77"), MATRIX)
    assert first.summary.startswith(f"Xid {row.xid}: {row.description}")  # the letters of an acronym, too
    assert "program's fault" not in first.summary or row.fault == "software"
    if row.fault in {"gone", "hardware"} or row.xid == 63:
        assert first.code == HARDWARE
    elif row.fault == "software":
        assert first.code == USER
    if says.holds_work_up:  # nor is what keeps work off a node called harmless
        assert first.code in {HARDWARE, RECOVERY}
        assert first.blames_stack
    if says.action == NOTHING and row.fault not in {"hardware", "gone"} and row.xid != 63:
        assert not first.blames_stack
    if answer(HARDWARE, log(f"{row.xid}, pid=77")).kind is Status.BAD:
        assert first.code == HARDWARE


@pytest.mark.parametrize(
    ("number", "name", "code", "mends", "action"),
    [
        (0, "None", USER, "no action", NOTHING),
        (1, "GPU Reset Required", RECOVERY, "nvidia-smi --gpu-reset", RESET),
        (2, "Node Reboot Required", RECOVERY, "reboot this machine", RESTART),
        (3, "Drain P2P", RECOVERY, "copy between GPUs", RESET),
        (4, "Drain and Reset", RECOVERY, "no new work", RESET),
        (6, "Made Up", RECOVERY, "Made Up", RESET),
        (7, "System Reboot", RECOVERY, "reboot this machine", RESTART),
    ],
)
def test_a_recovery_action_is_the_one_that_the_text_names(
    number: int, name: str, code: str, mends: str, action: str
) -> None:
    first = causes(changed(number, name))[0]
    assert first.code == code
    assert name in first.summary
    assert mends in first.mends
    assert [one.action for one in xid_events(log(changed(number, name)), MATRIX)] == [action]


def test_the_last_recovery_action_of_a_card_counts() -> None:
    lines = (changed(2, "Node Reboot Required"), changed(0, "None", "0x2 (Node Reboot Required)"))
    assert [one.code for one in causes(*lines)] == [USER]
    assert [one.action for one in xid_events(log(*lines), MATRIX)] == [NOTHING]
    assert causes(*reversed(lines))[0].code == RECOVERY
    assert [one.action for one in xid_events(log(*reversed(lines)), MATRIX)] == [RESTART]


@pytest.mark.parametrize(
    ("xid", "mends"),
    [
        (63, "Reset the GPU when convenient"),
        (48, "then reset it"),
        (110, "then reset it"),
        (68, "Restart the program"),
        (94, "Restart the program"),
        (92, "Test the GPU when it is free"),
    ],
)
def test_what_mends_it_is_of_the_xid(xid: int, mends: str) -> None:
    assert mends in causes(f"{xid}, pid=77")[0].mends
