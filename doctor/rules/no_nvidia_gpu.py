"""There is no NVIDIA GPU in this machine."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, Need
from compat.platform import absent
from compat.target import TargetMachine
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import UnseenError, value_or
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.conditions import container, wsl
from doctor.rules.shared.expected_gpu import signs_of_a_gpu
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE, need_live

_ELSEWHERE = (
    "Use a machine with an NVIDIA GPU, or CPU builds of the frameworks. A driver, CUDA or cuDNN does not help here."
)
_FOR_ANOTHER = (
    "Use the frameworks' builds for macOS, or a machine with Linux or Windows and an NVIDIA GPU: 'gpudoctor check"
    " --root', 'explain', 'matrix' and 'install ... --os linux' work here, for another machine."
)
_FROM_WINDOWS = "Update WSL and the NVIDIA driver in Windows, then run 'wsl --shutdown' there and start again."


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Ask PCI on Linux, and in WSL the device that Windows gives.

    It is an error where something shows that the machine is meant to have one, else information.
    """
    need_live(facts)
    if value_or(facts.system.family, "") == "macos":
        return _on_a_mac(facts, matrix)
    if facts.has_gpu:
        return ok("an NVIDIA GPU exists")
    if facts.has_gpu is None:
        raise UnseenError("unknown: PCI and NVML could not be read")
    if wsl(facts):
        return _in_wsl(facts)
    return _missing(
        "this machine has no NVIDIA GPU",
        Advice(_ELSEWHERE),
        Evidence.of(facts.pci, "no display or 3D controller of vendor 10de"),
        facts=facts,
    )


def _missing(why: str, need: Need, *evidence: Evidence, facts: Facts) -> Answer:
    signs = signs_of_a_gpu(facts)
    severity = Severity.ERROR if signs else Severity.INFO
    return bad(why, *([need] if signs else []), severity=severity, evidence=(*evidence, *signs))


def _on_a_mac(facts: Facts, matrix: Matrix) -> Answer:
    row = absent("", "", TargetMachine(os_family="macos", arch=""), matrix)
    if row is None:
        raise UnseenError("CUDA for macOS: unknown")
    return _missing(
        f"this Mac has no CUDA: {row.summary}",
        Advice(_FOR_ANOTHER),
        Evidence.of(facts.system.family, "macOS"),
        Evidence(row.summary, label=f"matrix, platform.absent[{row.id}]"),
        facts=facts,
    )


def _in_wsl(facts: Facts) -> Answer:
    if container(facts):
        raise UnseenError("a container in WSL has /dev/dxg only if it was started with the GPU: check the WSL host too")
    facts.system.dxg.get()
    return _missing(
        "Windows gives this WSL no GPU",
        Advice(_FROM_WINDOWS),
        Evidence.of(facts.system.dxg, "/dev/dxg does not exist"),
        facts=facts,
    )


RULE = Rule(MACHINE, check)
