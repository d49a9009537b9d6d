"""Windows has an NVIDIA card, and no NVIDIA driver for it."""

from __future__ import annotations

from compat.matrix import Matrix
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import UnseenError
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.cards import driver_needed
from doctor.rules.shared.conditions import nvml_evidence
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_gpu

_DRIVER = "nvlddmkm"  # the service of NVIDIA's display driver, as its INF files name it
_NOT_LOADED = 9  # NVML_ERROR_DRIVER_NOT_LOADED, nvml.h


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """NVML, which the driver brings, is not there; what Windows has bound to the card says whether it should be."""
    if facts.system.family.get() != "windows":
        raise NotApplicable("only on Windows")
    need_gpu(facts)
    said = facts.driver.nvml.get()
    if said.state == "ok":
        return ok("the NVIDIA driver answers")
    cards = facts.pci.get()
    if any(card.driver.lower() == _DRIVER for card in cards):
        raise UnseenError(f"the NVIDIA driver is installed, but NVML does not work: {said.error or said.state}")
    if said.state != "not-found" and said.code != _NOT_LOADED:
        raise UnseenError(f"NVML does not work: {said.error or said.state}")
    return bad(
        "Windows has no NVIDIA driver for the card",
        driver_needed(facts, matrix),
        evidence=(
            *(Evidence.of(facts.pci, f"{card.label}, driver: {card.driver or 'none'}") for card in cards),
            *nvml_evidence(facts),
        ),
    )


RULE = Rule(MACHINE, check)
