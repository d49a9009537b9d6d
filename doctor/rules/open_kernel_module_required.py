"""The GPU needs the open flavour of the kernel module, and the other one is loaded."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallDriver
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.cards import driver_here, generation_of
from doctor.rules.shared.conditions import OPEN_ONLY, kernel_says, need_kernel_driver, nvml_works, on_host, undriven
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The kernel log says so, or a generation is known to run with the open module only."""
    need_kernel_driver(facts)
    if nvml_works(facts) and value_or(facts.gpus, ()) and not undriven(facts):
        return ok("NVML lists every card")
    if value_or(facts.driver.flavour, "") == "open":
        return ok("the open module is loaded")
    if OPEN_ONLY in kernel_says(facts):
        return _required(facts, Evidence(f"the NVIDIA GPU {OPEN_ONLY}", label="kernel log"))
    for gpu in value_or(facts.gpus, ()):
        if isinstance(gpu.capability, Seen) and matrix.generation(gpu.capability.value).open_module == "only":
            row = matrix.generation(gpu.capability.value)
            return _required(
                facts, Evidence(f"{row.name} runs only with the open kernel module", label="matrix, gpu.generations")
            )
    _, flavour = driver_here(facts)
    for card in value_or(facts.pci, ()) if flavour == "proprietary" else ():
        kind = generation_of(card, matrix)
        if kind and kind.open_module == "only" and (not nvml_works(facts) or card.address in undriven(facts)):
            proof = f"{card.label} is {kind.name}, which runs only with the open kernel module"
            return _required(facts, Evidence(proof, label=f"matrix, gpu.generations, {kind.id}"))
    if value_or(facts.driver.flavour, "") and undriven(facts) and not isinstance(facts.system.kernel_log, Seen):
        raise UnseenError("the driver does not list a card; the kernel log has the reason: sudo dmesg | grep NVRM")
    return ok("nothing requires the open module")


def _required(facts: Facts, proof: Evidence) -> Answer:
    flavour = facts.driver.flavour
    return bad(
        "this GPU runs only with the open kernel module, but the proprietary one is installed",
        on_host(facts, InstallDriver(flavour="open"), "install the driver with the open module (-open) and reboot"),
        evidence=(
            proof,
            *((Evidence.of(flavour, f"the loaded module is {flavour.value}"),) if isinstance(flavour, Seen) else ()),
        ),
        explains=(Symptom("no-device-nodes"), Symptom("no-kernel-module"), Symptom("driver-does-not-support-gpu")),
    )


RULE = Rule(MACHINE, check)
