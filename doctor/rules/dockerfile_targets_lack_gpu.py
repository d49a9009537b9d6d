"""A Dockerfile compiles its CUDA code for other GPUs than the one that it shall run on."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from compat.version import ComputeCapability
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileTargets
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.gpu_code import visible_gpus
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Machine code runs on GPUs of its major from its minor on; PTX is compiled at the first start for newer ones.

    Source: NVIDIA, CUDA C++ Programming Guide, "Application Compatibility".
    """
    targets = dockerfile_of(facts).targets
    if not targets:
        raise NotApplicable("no line names the GPUs that it compiles for")
    for gpu in visible_gpus(facts):
        capability, name = gpu.capability.get(), gpu.name.get()
        for one in targets:
            if any(_runs(each, capability) for each in one.code):
                continue
            is_compiled = any(ComputeCapability.parse(each) <= capability for each in one.ptx)
            return _bad(one, name, capability, is_compiled=is_compiled)
    return ok("every line that names GPUs names those that are there")


def _runs(code: str, there: ComputeCapability) -> bool:
    own = ComputeCapability.parse(code)
    return own.major == there.major and own <= there


def _bad(one: DockerfileTargets, name: str, capability: ComputeCapability, *, is_compiled: bool) -> Answer:
    how = "its first start compiles for minutes" if is_compiled else "no kernel image is available for it"
    return bad(
        f"{one.source} compiles for {', '.join(one.code or one.ptx)}, not for {capability} ({name}): {how}",
        Advice(f"{one.source}: add {capability} to {one.what}"),
        severity=Severity.INFO if is_compiled else Severity.WARNING,
        evidence=(Evidence.at(one.source, one.what),),
    )


RULE = Rule(MACHINE, check)
