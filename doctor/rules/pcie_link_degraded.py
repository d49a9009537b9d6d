"""The card uses fewer PCIe lanes than card and slot offer together."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Place, how, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import GPUS, need_live

_FULL_WIDTH = 16
_BUSY_PERCENT = 50
_RESEAT = "Reseat the card without a riser, in a slot with 16 lanes of its own (see the board's manual)."


def check(gpu: Gpu, facts: Facts, matrix: Matrix) -> Answer:
    """Lanes of a 16-lane card; the generation only counts under load, because an idle card lowers it to save power."""
    need_live(facts)
    if gpu.link_width_max.get() < _FULL_WIDTH:
        raise NotApplicable(f"the card or slot has only {gpu.link_width_max.get()} lanes")
    if gpu.link_width.get() < gpu.link_width_max.get():
        return _degraded(gpu, f"{gpu.link_width.get()} of {gpu.link_width_max.get()} PCIe lanes", how(gpu.link_width))
    now, most = value_or(gpu.now.link_generation, 0), value_or(gpu.link_generation_max, 0)
    if value_or(gpu.now.utilisation_percent, 0) >= _BUSY_PERCENT and 0 < now < most:
        return _degraded(gpu, f"PCIe generation {now} of {most} under load", how(gpu.now.link_generation))
    return ok(f"{gpu.link_width.get()} PCIe lanes")


def _degraded(gpu: Gpu, what: str, source: str | Place) -> Answer:
    return bad(
        f"{gpu.label} uses {what}: copies to and from it are slower than possible",
        Advice(_RESEAT),
        severity=Severity.WARNING,
        evidence=(Evidence.at(source, what),),
    )


RULE = Rule(GPUS, check, blocks_verdict=False)
