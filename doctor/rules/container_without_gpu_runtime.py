"""This container was started without GPU support."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import GiveGpus
from doctor.model.facts import Facts, Machine
from doctor.model.facts.seen import Seen, value_or
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.conditions import container, nvml_works, wsl
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_container, need_gpu, need_linux, need_live

_SYMPTOMS = (
    "no-kernel-module",
    "no-device-nodes",
    "wsl-libcuda-missing",
    "driver-libraries-missing",
    "device-permissions",
    "cuda-visible-devices-empty-or-invalid",
)


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """The host has the card; the runtime brings in device nodes and libraries: look which of them are here."""
    need_live(facts)
    need_linux(facts)
    need_container(facts)
    need_gpu(facts)
    if value_or(facts.system.jetson, ""):
        raise NotApplicable("a Jetson's containers use the host's files")
    absent = _absent(facts)
    if not absent:
        return ok("the container has the driver's nodes and libraries")
    kind = container(facts)
    return bad(
        f"this container ({kind}) was started without {'the GPU' if 'device nodes' in absent else absent}",
        GiveGpus(kind),
        evidence=_evidence(facts, absent),
        explains=tuple(map(Symptom, _SYMPTOMS)),
    )


def _absent(facts: Facts) -> str:
    """What is lacking, "" for nothing; raises UnseenError where neither nodes nor libraries were seen."""
    if not nvml_works(facts) and not wsl(facts) and not facts.driver.nodes.get():
        return "device nodes"
    if any(one.stem == "libcuda" and one.origin != "stub" for one in facts.driver.libraries.get()):
        return ""
    return "libcuda (NVIDIA_DRIVER_CAPABILITIES must name compute)" if nvml_works(facts) else "the driver's libraries"


def _evidence(facts: Facts, absent: str) -> tuple[Evidence, ...]:
    settings = value_or(facts.system.gpu_runtime_env, ())
    nodes = facts.driver.nodes
    return (
        Evidence.of(facts.system.container, container(facts)),
        *(Evidence.of(facts.pci, f"{card.label} of the host") for card in value_or(facts.pci, ())[:1]),
        *((Evidence.of(nodes, "no driver node"),) if isinstance(nodes, Seen) and not nodes.value else ()),
        *((Evidence.of(facts.driver.libraries, "libcuda was not found"),) if "lib" in absent else ()),
        *(Evidence(f"{name}={value}", label="environment") for name, value in settings),
    )


RULE = Rule(MACHINE, check)
