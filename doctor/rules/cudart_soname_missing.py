"""A library of CUDA that a framework asks for by name is nowhere where the loader looks."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice, AssignVariable, Need
from compat.traits import traits_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Unseen, value_or
from doctor.model.finding import Answer, Evidence, Severity, Symptom, bad, ok
from doctor.rules.shared.builds import import_symptoms
from doctor.rules.shared.cuda_libraries import (
    NCCL,
    absent_pins,
    cannot,
    known_cuda,
    names_of,
    need_use,
    not_found,
    of_own_cuda,
    own_extra,
    predicted,
    stops_import,
    toolkit_for,
    wheels_for,
)
from doctor.rules.shared.cudnn_use import is_main, predictions_for
from doctor.rules.shared.dlls import cuda_there
from doctor.rules.shared.nvidia_wheels import pins_of
from doctor.rules.shared.pins import pin
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of

_OF_OTHER_RULES = ("libnvrtc", "libcuda.so")


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """A library that is in a wheel of the same environment is another finding; a framework may have its own."""
    own = traits_of(framework.package).instead.get("cudart-soname-missing")
    if own:
        raise NotApplicable(f"{framework.package} continues without them: {own}")
    need_use(framework, facts)
    if facts.system.family.get() == "windows":
        return cuda_there(framework, facts, matrix, import_symptoms(framework))
    missing = tuple(
        one
        for one in not_found(framework, facts)
        if isinstance(one.intended, Unseen) and not one.soname.startswith(_OF_OTHER_RULES)
    )
    missing = of_own_cuda(missing, framework, facts, matrix)
    if not missing:
        return ok(f"the loader finds the libraries of {framework.label}, or a wheel has them")
    cudnn = _cudnn_as_well(framework, facts, matrix)
    brings_cudnn = cudnn or any("cudnn" in one for one in absent_pins(framework, facts, matrix))
    return bad(
        f"{framework.label} {cannot(framework)}: {names_of(missing)} {'is' if len(missing) == 1 else 'are'} missing",
        *_needs(missing, cudnn, framework, facts, matrix),
        severity=Severity.INFO if _only_for_another(framework, missing, facts) else Severity.ERROR,
        evidence=tuple(Evidence(_why(one), label=f"the loader's search for {one.soname}") for one in missing),
        explains=(
            Symptom("nvrtc-missing", framework.label),
            *((Symptom("cudnn-missing", framework.label),) if brings_cudnn else ()),
            *(import_symptoms(framework) if stops_import(framework) else ()),
        ),
    )


def _cudnn_as_well(framework: Framework, facts: Facts, matrix: Matrix) -> str:
    """The wheel of cuDNN that its extra asks for, where that is missing too: onnxruntime-gpu[cudnn]; "" for none.

    A provider that cannot be loaded without cuBLAS never comes to ask for cuDNN.
    """
    asked = tuple(one for one in predictions_for(framework, facts) if is_main(one.soname))
    lost = any(one.missing and isinstance(one.intended, Unseen) for one in asked)
    if not lost and (asked or value_or(facts.cudnn, ("unknown",))):
        return ""
    pins = (one for one in pins_of(framework, facts, matrix) if one.name.startswith("nvidia-cudnn-cu"))
    return next((f"{one.name}{one.specifier.replace(' ', '')}" for one in pins), "")


def _only_for_another(framework: Framework, missing: tuple[Prediction, ...], facts: Facts) -> bool:
    """Whether another framework brought it, with the libraries that it uses itself: cuDF, CuPy without cuBLAS."""
    if traits_of(framework.package).opens != "call" or len(missing) == len(predicted(framework, facts)):
        return False
    others = value_or(environment_of(framework, facts).frameworks, ())
    asked = (pin(text) for one in others if one != framework for text in value_or(one.requires, ()))
    return any(one is not None and one.name == framework.package and not one.optional for one in asked)


def _why(one: Prediction) -> str:
    return one.path.why if isinstance(one.path, Unseen) else ""


def _needs(
    missing: tuple[Prediction, ...], cudnn: str, framework: Framework, facts: Facts, matrix: Matrix
) -> tuple[Need, ...]:
    """Return a toolkit that is here, the wheels that bring them, a toolkit to install: what changes least comes first.

    Wheels need no root, and change this environment only.
    """
    extra, wheels = own_extra(framework, facts, matrix), wheels_for(missing, framework, facts, matrix)
    if cudnn:
        wheels = tuple(one._replace(install=tuple(dict.fromkeys((*one.install, cudnn)))) for one in wheels)
    is_by_wheels = wheels and absent_pins(framework, facts, matrix)  # which it requires all the same
    toolkit = () if is_by_wheels else toolkit_for(missing[0].soname, framework, facts, matrix)
    here = tuple(one for one in toolkit if isinstance(one, AssignVariable))
    both = tuple(dict.fromkeys((*here, *(extra or wheels), *toolkit)))
    return both or (Advice(_in_words(missing[0].soname, framework, facts, matrix)),)


def _in_words(soname: str, framework: Framework, facts: Facts, matrix: Matrix) -> str:
    """NCCL belongs to no release of CUDA, and has wheels from CUDA 11 on."""
    if soname != NCCL:
        return f"Install the CUDA version with {soname}."
    cuda = known_cuda(framework, facts, matrix)
    return (
        f"Install NCCL 2 for CUDA {cuda or 'of this build'} (NVIDIA's package libnccl2): no CUDA toolkit has {soname}."
    )


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
