"""The card reports faults of its own hardware."""

from __future__ import annotations

from collections.abc import Iterator

from compat.matrix import Matrix, Uncovered
from compat.need import Advice, Need, ResetGpu
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, Unseen, WhyNot, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.conditions import need_kernel_driver, nvml_code
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE
from doctor.rules.shared.xids import logged_xids

_LOST = 15  # NVML_ERROR_GPU_IS_LOST, nvml.h
_RESTART = (
    "Stop the programs, reboot, and check seating, power cables and cooling. "
    'If the fault returns, replace the card (NVIDIA, "GPU Debug Guidelines").'
)
_REPLACE = (
    "Stop using the card and run NVIDIA's Field Diagnostic. If it confirms the fault, NVIDIA replaces the card "
    '("GPU Memory Error Management", RMA Policy).'
)
_WATCH = "Run NVIDIA's diagnosis ('dcgmi diag -r 3') when the GPU is free, and check if the count grows."


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """ECC counts and pending page retirement from NVML; Xid events of the hardware classes from the kernel log."""
    need_kernel_driver(facts)
    gone = tuple(_gone(facts, matrix))
    # The flag by which NVIDIA replaces a card: a bank's spare rows are used up, or a spare row failed itself.
    worn = tuple(
        Evidence(f"{gpu.label}: a row of memory could not be remapped", label="NVML")
        for gpu in value_or(facts.gpus, ())
        if value_or(gpu.remapping_failed, False)
    )
    pending = tuple(_pending(facts))
    counted = tuple(_counted(facts))
    logged = tuple(_logged(facts, matrix))
    if not (gone or worn or pending or counted or logged):
        # Nothing was found; raises UnseenError where neither source could be asked.
        if not isinstance(facts.system.kernel_log, Seen):
            facts.gpus.get()
            return ok("NVML counts no uncorrected error (the kernel log could not be read)")
        return ok("no uncorrected error and no hardware Xid in the kernel log")
    found = (*gone, *worn, *pending, *logged, *counted)
    return bad(
        f"the hardware of a GPU reports a fault: {found[0].detail}",
        Advice(_RESTART if gone else _REPLACE) if gone or worn else _need(facts, pending=bool(pending)),
        severity=Severity.ERROR if gone or worn else Severity.WARNING,
        evidence=found,
        explains=(Symptom("no-device-nodes"), Symptom("driver-does-not-support-gpu")) if gone else (),
    )


def _gone(facts: Facts, matrix: Matrix) -> Iterator[Evidence]:
    if nvml_code(facts) == _LOST:
        yield Evidence("a GPU is lost: it fell off the bus", label="NVML")
    for gpu in value_or(facts.gpus, ()):
        if isinstance(gpu.uuid, Unseen) and gpu.uuid.why_not is WhyNot.LOST:
            yield Evidence(f"{gpu.label} is lost: it fell off the bus", label="NVML")
    for address, code, _ in logged_xids(facts):
        if _fault(code, matrix) == "gone":
            yield Evidence(f"Xid {code} at {address}: {matrix.xid(code).description}", label="kernel log")


def _logged(facts: Facts, matrix: Matrix) -> Iterator[Evidence]:
    for address, code, _ in logged_xids(facts):
        if _fault(code, matrix) == "hardware":
            yield Evidence(f"Xid {code} at {address}: {matrix.xid(code).description}", label="kernel log")


def _fault(code: int, matrix: Matrix) -> str:
    try:
        return matrix.xid(code).fault
    except Uncovered:
        return ""  # a code nobody described accuses no hardware


def _pending(facts: Facts) -> Iterator[Evidence]:
    for gpu in value_or(facts.gpus, ()):
        if value_or(gpu.retired_pages_pending, False):
            yield Evidence(f"{gpu.label}: memory pages or rows must be retired", label="NVML")


def _need(facts: Facts, *, pending: bool) -> Need:
    """A reset of the first GPU that waits for one; else what a person does with a card."""
    if not pending:
        return Advice(_WATCH)
    waiting = (gpu for gpu in value_or(facts.gpus, ()) if value_or(gpu.retired_pages_pending, False))
    return ResetGpu(next(waiting).number)


def _counted(facts: Facts) -> Iterator[Evidence]:
    for gpu in value_or(facts.gpus, ()):
        if value_or(gpu.ecc_uncorrected, 0):
            yield Evidence(
                f"{gpu.label}: {value_or(gpu.ecc_uncorrected, 0)} uncorrected ECC errors in its lifetime", label="NVML"
            )


RULE = Rule(MACHINE, check)
