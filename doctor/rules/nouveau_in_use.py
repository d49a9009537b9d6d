"""Another kernel driver than NVIDIA's owns the card."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import KeepModuleAway, Need
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.cards import driver_needed
from doctor.rules.shared.conditions import module_is_loaded, need_kernel_driver, nvml_works, on_host
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

# nova-core, the successor in Rust, has been spelt in several ways
_OTHERS = {"nouveau": "nouveau", "novacore": "nova_core", "novadrm": "nova_drm"}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The driver bound to a card on PCI decides; where PCI cannot be read, the loaded modules do."""
    need_kernel_driver(facts)
    if nvml_works(facts):
        return ok("NVML works")
    bound, evidence = _bound(facts) if isinstance(facts.pci, Seen) else _loaded(facts)
    if not bound:
        return ok("no other kernel driver uses the card")
    return bad(
        f"the kernel driver {bound} uses the card, so NVIDIA's driver cannot",
        *_needs(facts, matrix, bound),
        evidence=evidence,
        explains=(Symptom("no-kernel-module"), Symptom("no-device-nodes")),
    )


def _bound(facts: Facts) -> tuple[str, tuple[Evidence, ...]]:
    held = [(card, _known(card.driver)) for card in facts.pci.get() if _known(card.driver)]
    evidence = tuple(Evidence.of(facts.pci, f"{card.label} is bound to {card.driver}") for card, _ in held)
    return (held[0][1] if held else "", evidence)


def _loaded(facts: Facts) -> tuple[str, tuple[Evidence, ...]]:
    if module_is_loaded(facts):
        return "", ()
    modules = facts.driver.modules_loaded
    found = next((_known(name) for name in modules.get() if _known(name)), "")
    return found, (Evidence.of(modules, f"{found} is loaded, nvidia is not"),)


def _known(driver: str) -> str:
    return _OTHERS.get(driver.casefold().replace("_", "").replace("-", ""), "")


def _needs(facts: Facts, matrix: Matrix, bound: str) -> tuple[Need, ...]:
    """Where no NVIDIA module is installed at all, installing the driver comes first: it also turns nouveau off."""
    away = on_host(facts, KeepModuleAway(bound), f"turn {bound} off and reboot")
    if isinstance(facts.driver.module_files, Seen) and not value_or(facts.driver.module_files, ()):
        return (on_host(facts, driver_needed(facts, matrix), "install the NVIDIA driver and reboot"), away)
    return (away,)


RULE = Rule(MACHINE, check)
