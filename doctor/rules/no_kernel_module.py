"""The nvidia kernel module is not loaded."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import LoadKernelModule, Need, RemoveModprobeLine, SwitchGpuOn
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.cards import driver_needed
from doctor.rules.shared.conditions import module_is_loaded, need_kernel_driver, nvml_code, nvml_evidence, on_host
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_NOT_LOADED = 9  # NVML_ERROR_DRIVER_NOT_LOADED, nvml.h


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Look for the module; NVML that works is proof of it."""
    need_kernel_driver(facts)
    if nvml_code(facts) == _NOT_LOADED and not isinstance(facts.driver.modules_loaded, Seen):
        return _absent(facts, matrix, "NVML finds no driver")
    if module_is_loaded(facts):
        return ok("the nvidia kernel module is loaded")
    return _absent(facts, matrix, "the nvidia kernel module is not loaded")


def _absent(facts: Facts, matrix: Matrix, what: str) -> Answer:
    installed, need = _installed(facts, matrix)
    return bad(
        f"{what}{installed}",
        on_host(facts, need, "install or load the NVIDIA driver"),
        evidence=(
            *(Evidence.of(facts.pci, card.label) for card in value_or(facts.pci, ())),
            Evidence.of(facts.driver.modules_loaded, "the module nvidia is not loaded", "modules"),
            *(Evidence(line, label="modprobe.d") for line in value_or(facts.driver.blocked, ())),
            *nvml_evidence(facts),
        ),
        places=value_or(facts.driver.blocked, ()),
        explains=(
            Symptom("no-device-nodes"),
            Symptom("fabric-manager-not-running"),
            Symptom("driver-libraries-missing"),
        ),
    )


def _let_in(blocked: tuple[str, ...], facts: Facts) -> Need:
    """A laptop's switch wrote the lines and takes them back; else they must leave the file, and the initial disk."""
    switch = value_or(facts.driver.switch, "")
    if switch:
        return SwitchGpuOn(switch)
    path, _, line = blocked[0].partition(": ")
    return RemoveModprobeLine(path, line)


def _installed(facts: Facts, matrix: Matrix) -> tuple[str, Need]:
    """Whether it only has to be loaded, or is not there at all."""
    blocked = value_or(facts.driver.blocked, ())
    if blocked:
        return f": {blocked[0].partition(': ')[0]} blocks it", _let_in(blocked, facts)
    files, kernel = facts.driver.module_files, value_or(facts.system.kernel, "")
    if any(one.kernel == kernel for one in value_or(files, ())):
        return ", though it is installed for this kernel", LoadKernelModule(kernel=kernel)
    if isinstance(files, Seen) and not files.value:
        return " and none is installed", driver_needed(facts, matrix)
    return "", driver_needed(facts, matrix)


RULE = Rule(MACHINE, check)
