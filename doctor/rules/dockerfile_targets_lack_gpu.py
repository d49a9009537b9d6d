"""A Dockerfile compiles its CUDA code for other GPUs than the one that it shall run on."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from compat.version import ComputeCapability
from doctor.model.facts import Facts, Machine
from doctor.model.facts.dockerfile import DockerfileTargets
from doctor.model.facts.environment import Variable
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.gpu_code import visible_gpus
from doctor.rules.shared.image import dockerfile_of
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Machine code runs on GPUs of its major from its minor on; PTX is compiled at the first start for newer ones.

    Source: NVIDIA, CUDA C++ Programming Guide, "Application Compatibility".
    """
    targets, variables = dockerfile_of(facts).targets, value_or(facts.configuration.variables, ())
    if not targets:
        raise NotApplicable("no line names the GPUs that it compiles for")
    for gpu in visible_gpus(facts):
        capability, name = gpu.capability.get(), gpu.name.get()
        for one in targets:
            if any(_runs(each, capability) for each in one.code):
                continue
            is_compiled = any(ComputeCapability.parse(each) <= capability for each in one.ptx)
            setting = next((each for each in variables if f"{each.name}={each.value}" == one.what), None)
            return _bad(one, setting, name, capability, is_compiled=is_compiled)
    return ok("every line that names GPUs names those that are there")


def _runs(code: str, there: ComputeCapability) -> bool:
    own = ComputeCapability.parse(code)
    return own.major == there.major and own <= there


def _bad(
    one: DockerfileTargets, setting: Variable | None, name: str, capability: ComputeCapability, *, is_compiled: bool
) -> Answer:
    """At the ENV line, where the value stands in one: its own rule says the same."""
    how = "its first start compiles for minutes" if is_compiled else "no kernel image is available for it"
    at = (setting.set_at if setting else None) or one.source
    separator = ";" if ";" in one.what else " "
    return bad(
        f"{one.source} compiles for {', '.join(one.code or one.ptx)}, not for {capability} ({name}): {how}",
        Advice(f'{at}: ENV {setting.name}="{setting.value}{separator}{capability}"')
        if setting
        else Advice(f"{at}: add {capability} to {one.what}"),
        severity=Severity.INFO if is_compiled else Severity.WARNING,
        evidence=(Evidence.at(at, one.what),),
        explains=(Symptom("variable-leads-astray", setting.name),) if setting else (),
    )


RULE = Rule(MACHINE, check)
