"""The kernel's log: Xid numbers, the bus, and tasks that hang."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.matrix import Uncovered
from doctor.messages.clues import Clues
from doctor.messages.signature import Means
from doctor.rules.shared.xids import ANNOUNCES, APPLICATION, NOTHING, RESET, RESTART, action_of, recovery_of

_HARDWARE, _USER = (
    "ecc-xid-hardware-fault",
    "not-a-stack-problem",
)
_RECOVERY = "gpu-recovery-needed"
_AGAIN = "If it comes back, test the GPU (`dcgmi diag -r 3`); if the test fails, have the GPU replaced."
_RESETS = (
    "Stop the programs that use this GPU, then reset it: `sudo nvidia-smi --gpu-reset -i N`. If that fails, reboot."
)
_DO = {
    NOTHING: "This line needs no action. If a program failed, look for another error before it.",
    APPLICATION: f"Restart the program. {_AGAIN}",
    RESET: f"{_RESETS} {_AGAIN}",
    RESTART: f"Stop the programs, then reboot this machine. {_AGAIN}",
}
# For all other actions, the page of the finding says what to do with a card.
_OF_HARDWARE = {
    NOTHING: "Test the GPU when it is free (`dcgmi diag -r 3`); if the test fails, have the GPU replaced.",
    APPLICATION: _DO[APPLICATION],
    RESET: _DO[RESET],
}
# NVIDIA, "GPU Memory Error Management": the program goes on, and a reset completes the remapping.
_REMAPPED = 63
_REMAPS = (
    "Reset the GPU when convenient: `sudo nvidia-smi --gpu-reset -i N`, or reboot. Until then the row or page is not "
    "replaced; programs may go on. `nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT` shows what is pending."
)
# The catalogue's bucket for the numbers that it calls unused: CONTACT_SUPPORT.
_NOT_LISTED = (
    "Look at the Xids before and after it, and test the GPU when it is free (`dcgmi diag -r 3`). If it returns, run "
    "`sudo nvidia-bug-report.sh` and ask NVIDIA's or the vendor's support."
)
# nvmlDeviceGpuRecoveryAction_t, nvml.h
_RECOVERS = {
    1: _RESETS,
    2: "Stop the programs, then reboot this machine.",
    3: "Stop the programs that copy between GPUs on this machine, then look at `nvidia-smi -q` again.",
    4: "Start no new work on this GPU. When its programs have ended, reset it: `sudo nvidia-smi --gpu-reset -i N`.",
    7: "Stop the programs, then reboot this machine.",
}
_OF_RECOVERY = r"NVRM:\s+Xid\s+\((?P<card>[^)\n]{1,40})\):\s+154\b(?P<text>[^\n]{0,160})"


def of_xid(found: re.Match[str], clues: Clues) -> Iterator[Means]:
    """By NVIDIA's catalogue of Xid errors, as `gpudoctor gate` reads it."""
    number = int(found["xid"])
    try:
        row = clues.matrix.xid(number)
    except Uncovered:
        yield Means(_HARDWARE, f"Xid {number} is not in NVIDIA's catalogue of Xid errors", 0.35, mends=_NOT_LISTED)
        return
    says, action = f"Xid {number}: {row.description}", action_of(row, found["text"])
    if row.resolution == ANNOUNCES:
        yield _of_recovery(says, found, clues)
    elif number == _REMAPPED:
        yield Means(_HARDWARE, f"{says}: a memory row must be replaced, or a page retired", 0.8, mends=_REMAPS)
    elif row.fault == "event":
        yield Means(_USER, f"{says}: this is an event, not a fault", 0.4, mends=_DO[NOTHING])
    elif row.fault in {"gone", "hardware"}:
        yield Means(_HARDWARE, says, 0.93, mends=_OF_HARDWARE.get(action, ""))
    elif row.fault == "either" and action != NOTHING:
        yield Means(_HARDWARE, f"{says}: the hardware or a program caused it", 0.6, mends=_DO.get(action, ""))
    elif action == NOTHING:
        yield Means(_USER, f"{says}: NVIDIA's catalogue says to ignore it", 0.45, mends=_DO[NOTHING])
    else:
        yield Means(_USER, f"{says}: by NVIDIA's catalogue this is a fault of the program", 0.6)


def _of_recovery(says: str, found: re.Match[str], clues: Clues) -> Means:
    """Of Xid 154, the action that its text names: of a card's lines the last one counts."""
    texts = [one["text"] for one in re.finditer(_OF_RECOVERY, clues.text) if one["card"] == found["card"]]
    named = [one for one in map(recovery_of, (found["text"], *texts)) if one]
    if not named:
        return Means(_RECOVERY, says, 0.8)
    number, name = named[-1]
    if number == 0:
        return Means(_USER, f"{says} to {name}: the GPU needs nothing now", 0.45, mends=_DO[NOTHING])
    mends = _RECOVERS.get(number, f"Do what the driver requests: {name}.")
    return Means(_RECOVERY, f"{says} to {name}", 0.95, mends=mends)
