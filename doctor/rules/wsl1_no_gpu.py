"""WSL 1 has no GPU."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_linux, need_live

_CONVERT = (
    "In Windows: 'wsl --list --verbose' shows this distribution's name, 'wsl --set-version <name> 2' converts it."
)


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Its kernel interface is emulated by Windows, without any GPU; only WSL 2 has one."""
    need_live(facts)
    need_linux(facts)
    if not facts.system.wsl.get():
        raise NotApplicable("this is not Windows Subsystem for Linux")
    if facts.system.wsl.get() > 1:
        return ok("WSL 2")
    return bad(
        "this is WSL 1, which cannot use a GPU",
        Advice(_CONVERT),
        evidence=(Evidence.of(facts.system.wsl, f"kernel {value_or(facts.system.kernel, 'of WSL 1')}"),),
        explains=(
            Symptom("no-nvidia-gpu"),
            Symptom("wsl-libcuda-missing"),
            Symptom("no-kernel-module"),
            Symptom("no-device-nodes"),
        ),
    )


RULE = Rule(MACHINE, check)
