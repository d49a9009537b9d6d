"""Secure Boot keeps the kernel from loading the nvidia module."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import SignKernelModule
from doctor.model.facts import Facts, Machine
from doctor.model.facts.driver import ModuleFile
from doctor.model.facts.seen import Seen, UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import kernel_says, module_is_loaded, need_own_kernel
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE

# What the kernel says when it refuses a module (kernel/module/signing.c; security/lockdown), and modprobe
# (the text of EKEYREJECTED).
_REFUSALS = (
    r"loading of (?:unsigned module|module with [a-z ]+) is rejected",
    r"unsigned module loading is restricted",
    r"key was rejected by service",
)


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """A module that is not loaded, Secure Boot on, and a refusal in the log or a file without a signature."""
    need_own_kernel(facts)
    if module_is_loaded(facts):
        return ok("the kernel has loaded the nvidia module")
    refusal = _refusal(facts)
    if refusal and value_or(facts.system.secure_boot, True):
        return _refused(facts, Evidence.of(facts.system.kernel_log, refusal))
    if not facts.system.secure_boot.get():
        return ok("Secure Boot is off")
    return _by_files(facts)


def _refusal(facts: Facts) -> str:
    """What the log says, "" for nothing; raises NotApplicable where this kernel has no module to refuse."""
    import re

    said = kernel_says(facts)
    found = next(filter(None, (re.search(pattern, said, re.IGNORECASE) for pattern in _REFUSALS)), None)
    if found and isinstance(facts.driver.module_files, Seen):
        _module_of_this_kernel(facts)
    return found[0] if found else ""


def _by_files(facts: Facts) -> Answer:
    module = _module_of_this_kernel(facts)
    if not module.signed.get():
        return _refused(facts, Evidence("carries no signature", file=module.path))
    if not isinstance(facts.system.kernel_log, Seen):
        raise UnseenError("the module is signed; only the kernel log shows if its key is enrolled (sudo dmesg)")
    return ok(f"{module.path} is signed, and the kernel log has no refusal")


def _module_of_this_kernel(facts: Facts) -> ModuleFile:
    kernel = facts.system.kernel.get()
    for module in facts.driver.module_files.get():
        if module.kernel == kernel:
            return module
    raise NotApplicable(f"no nvidia module is installed for kernel {kernel}")


def _refused(facts: Facts, proof: Evidence) -> Answer:
    return bad(
        "Secure Boot is on, but the kernel does not accept the nvidia module's signature",
        SignKernelModule(value_or(facts.system.kernel, ""), value_or(facts.driver.module_source, "")),
        evidence=(Evidence.of(facts.system.secure_boot, "Secure Boot is on", "firmware"), proof),
        explains=(Symptom("no-kernel-module"), Symptom("no-device-nodes"), Symptom("nouveau-in-use")),
    )


RULE = Rule(MACHINE, check)
