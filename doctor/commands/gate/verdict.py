"""From the answers of the rules to one verdict: ready only where everything that a job needs was seen to be in order.

What is unknown, failed or missing as a prerequisite is not ready, and says which prerequisite.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from compat.base.record import NamedTuple
from compat.matrix import Matrix
from doctor.commands.gate.xids import Asked, xid_events
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen, Unseen, WhyNot, value_or
from doctor.model.finding import CHECK_ERROR, Answer, Severity, Status
from doctor.rules.shared.engine import root_causes
from doctor.rules.shared.xids import APPLICATION

PREREQUISITE, XID = "prerequisite", "xid"
_OF_XIDS = "ecc-xid-hardware-fault"  # who puts up with this finding puts up with the Xids behind it
_HOLDS_UP = frozenset({"gpu-operator-not-ready"})  # warnings of `check` for which the gate stays closed
_NEVER_COMES = frozenset({"gpudoctor", "machine", "the kernel's log", "the rules"})  # prerequisites that time cures not
# What a driver that is still loading can look like; `--retry-for` waits for these alone.
_LOADING = frozenset(
    (
        PREREQUISITE,
        *("no-kernel-module", "no-device-nodes", "driver-libraries-missing", "nvml-error", "driver-hang"),
        *("fabric-manager-not-running", "gpu-operator-not-ready", "driver-library-mismatch"),
    )
)


class Level(Enum):
    """How ready: work may be put on the node in the first two alone."""

    READY = "ready"
    WARNED = "ready, with warnings"
    NOT_READY = "not ready"
    UNKNOWN = "not known to be ready"


class Reason(NamedTuple):
    """One thing that the verdict rests on."""

    level: Level
    code: str  # of a finding, or PREREQUISITE or XID
    subject: str
    why: str
    action: str = ""  # what an Xid asks for


class Verdict(NamedTuple):
    """The whole of it, worst reason first."""

    level: Level
    reasons: tuple[Reason, ...]
    seen: str  # what is ready: "2 GPUs, driver 580.95.05"
    is_stuck: bool = False  # a look still runs, and nobody waits for it

    @property
    def is_ready(self) -> bool:
        """Whether work may be put on the node."""
        return self.level in {Level.READY, Level.WARNED}

    @property
    def may_be_loading(self) -> bool:
        """Whether all that is missing may come by itself; what is unknown may be so because the driver is missing."""
        if self.is_ready or self.is_stuck:
            return self.is_stuck
        certain = {one.code for one in self.reasons if one.level is Level.NOT_READY}
        return certain <= _LOADING and any(_may_come(one) for one in self.reasons)


def _may_come(reason: Reason) -> bool:
    return reason.code in _LOADING and not (reason.code == PREREQUISITE and reason.subject in _NEVER_COMES)


_ORDER = (Level.NOT_READY, Level.UNKNOWN, Level.WARNED, Level.READY)


def verdict_of(facts: Facts, answers: tuple[Answer, ...], matrix: Matrix) -> Verdict:
    """The worst of what the answers, the prerequisites and the kernel's log say."""
    found = [*_from_answers(answers), *_prerequisites(facts, answers), *_xids(facts, matrix)]
    reasons = tuple(sorted(dict.fromkeys(found), key=lambda one: _ORDER.index(one.level)))
    level = reasons[0].level if reasons else Level.READY
    return Verdict(level, reasons, _seen(facts))


def failure(why: str) -> Verdict:
    """No verdict came about."""
    return Verdict(Level.UNKNOWN, (Reason(Level.UNKNOWN, PREREQUISITE, "gpudoctor", why),), "")


def _from_answers(answers: tuple[Answer, ...]) -> Iterator[Reason]:
    """Roots alone: what they explain is gone with them."""
    causes = root_causes(answers)
    for one in sorted(answers, key=lambda answer: answer.severity.rank):
        reason = Reason(_level(one), one.code, one.subject, one.why)
        if reason.level is not Level.READY and (one.code, one.subject) not in causes:
            yield reason


def _level(answer: Answer) -> Level:
    if answer.kind is Status.UNKNOWN:
        return Level.UNKNOWN if answer.blocks_verdict else Level.READY
    if answer.code == CHECK_ERROR and answer.kind is Status.BAD:
        return Level.UNKNOWN  # also where a policy puts up with it: its answer is unknown
    if answer.kind is not Status.BAD or answer.severity is Severity.INFO:
        return Level.READY
    holds_up = answer.severity is Severity.ERROR or answer.code in _HOLDS_UP
    return Level.NOT_READY if holds_up else Level.WARNED


def _prerequisites(facts: Facts, answers: tuple[Answer, ...]) -> Iterator[Reason]:
    """What must have been seen; rules that found nothing to judge are no proof."""
    if facts.machine.kind != "live":
        yield _missing("machine", "only a running machine can be ready")
    for what, fact in (
        ("the driver", facts.driver.release),
        ("NVML", facts.driver.nvml),
        ("the GPUs", facts.gpus),
        ("the kernel's log", facts.system.kernel_log),
    ):
        if isinstance(fact, Unseen):
            yield _missing(what, fact.why)
    if isinstance(facts.driver.nvml, Seen) and facts.driver.nvml.value.state != "ok":
        yield _missing("NVML", facts.driver.nvml.value.error)
    if isinstance(facts.gpus, Seen):
        yield from _missing_gpus(facts.gpus.value, len(value_or(facts.pci, ())))
    if not any(one.kind is Status.OK for one in answers):
        yield _missing("the rules", "none of them could say that something is in order")
    for failed in facts.failures:
        yield _missing(failed.label, failed.error)


def _missing_gpus(gpus: tuple[Gpu, ...], on_pci: int) -> Iterator[Reason]:
    if not gpus:
        yield _missing("the GPUs", "NVML shows none")
    for gpu in gpus:
        untold = gpu.refused or _untold(gpu)
        if untold:
            yield _missing(gpu.label, untold)
    if on_pci > len(gpus):
        yield _missing("the GPUs", f"{on_pci} are on PCI, NVML shows {len(gpus)}")


def _untold(gpu: Gpu) -> str:
    """What NVML does not tell of a card, and tells of every one that works; "" for nothing.

    A card that shares the memory of the machine has none of its own.
    """
    told = {"UUID": gpu.uuid, "name": gpu.name, "compute capability": gpu.capability, "memory": gpu.memory_bytes}
    unseen = {what: fact for what, fact in told.items() if isinstance(fact, Unseen)}
    if "memory" in unseen and unseen["memory"].why_not is WhyNot.NOT_SUPPORTED:
        del unseen["memory"]
    return next((f"its {what} is not known: {fact.why}" for what, fact in unseen.items()), "")


def _missing(what: str, why: str) -> Reason:
    return Reason(Level.UNKNOWN, PREREQUISITE, what, why)


def _xids(facts: Facts, matrix: Matrix) -> Iterator[Reason]:
    if _OF_XIDS in facts.policy.allowed:
        return
    for one in xid_events(facts, matrix):
        level = _level_of_xid(one)
        if level is not Level.READY:
            why = f"Xid {one.xid} at {one.address}: {one.says}"
            yield Reason(level=level, code=XID, subject=one.address, why=why, action=one.action)


def _level_of_xid(xid: Asked) -> Level:
    if xid.holds_work_up:
        return Level.NOT_READY if xid.action else Level.UNKNOWN
    return Level.WARNED if xid.action == APPLICATION else Level.READY


def _seen(facts: Facts) -> str:
    gpus = len(facts.gpus.value) if isinstance(facts.gpus, Seen) else 0
    release = f", driver {facts.driver.release.value}" if isinstance(facts.driver.release, Seen) else ""
    return f"{gpus} GPU{'' if gpus == 1 else 's'}{release}"
