"""NCCL or TensorRT that a framework loads was built for another CUDA major than the framework, or than the driver runs.

Either has CUDA's runtime inside (no libcudart among what they need), which the driver must run; what a framework hands
over to them are things of its own runtime, and NVIDIA tests them with one CUDA only.
"""

from __future__ import annotations

import re

from compat.matrix import Matrix, Uncovered
from compat.need import Advice, ChangePackages, InstallPackage, Need
from compat.version import CudaVersion
from doctor.model.facts import Facts
from doctor.model.facts.environment import Framework
from doctor.model.facts.loader import Prediction
from doctor.model.facts.seen import Seen, UnseenError
from doctor.model.finding import Answer, Severity, Symptom, ok
from doctor.rules.shared.builds import cuda_of, is_of_the_base, need_own_cuda
from doctor.rules.shared.cudnn_use import out_of_variable, predictions_for, wheel_need
from doctor.rules.shared.driver_floor import Start, start_of
from doctor.rules.shared.nvidia_wheels import leftovers, pins_of
from doctor.rules.shared.other_cuda import other_cuda
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import INSTALLED_FRAMEWORKS, environment_of, need_linux

_NAMES = {"libnccl": "NCCL", "libnvinfer": "TensorRT"}
_WHEELS = {"libnccl": "nvidia-nccl-cu"}


def check(framework: Framework, facts: Facts, matrix: Matrix) -> Answer:
    """An error where the driver does not run their CUDA, a warning where they are only of another than the framework's.

    Their CUDA is what the library says itself, else the package that brought it.
    """
    need_linux(facts)
    asked = (one for one in predictions_for(framework, facts) if _stem(one) and isinstance(one.path, Seen))
    told = tuple(one for one in asked if not is_of_the_base(one.library, framework, facts))
    if not told:
        raise NotApplicable(f"{framework.label} itself loads neither NCCL nor TensorRT")
    own = _own(framework, facts, matrix)
    for one in told:
        theirs = one.cuda_major
        if not isinstance(theirs, Seen) or (own and own.value.major == theirs.value):
            continue
        start = _start(theirs.value, facts, matrix)
        if (start and start.floor) or own:
            needs = _needs(one, framework, own, facts, matrix)
            stops = f", and {start.why}" if start and start.floor else ""
            severity = Severity.ERROR if stops else Severity.WARNING
            what, label = _NAMES[_stem(one)], f"{one.path.get()}{stops}"
            found = other_cuda(framework, own, what, theirs, *needs, label=label, source=theirs.how, severity=severity)
            return found._replace(explains=(*found.explains, *_left_over(needs, framework, facts, matrix)))
    for one in told:
        one.cuda_major.get()
    return ok(f"{' and '.join(dict.fromkeys(_NAMES[_stem(one)] for one in told))} fit the CUDA of {framework.label}")


def _stem(one: Prediction) -> str:
    stem = one.soname.partition(".so")[0]
    return stem if stem in _NAMES else ""


def _own(framework: Framework, facts: Facts, matrix: Matrix) -> Seen[CudaVersion] | None:
    """The framework's CUDA; None for one that has none of its own, as TensorRT's bindings; raises Uncovered."""
    try:
        need_own_cuda(framework)
    except NotApplicable:
        if framework.is_cpu_build:
            raise
        return None
    return cuda_of(framework, facts, matrix)


def _start(major: int, facts: Facts, matrix: Matrix) -> Start | None:
    """Whether the driver starts what is built with that CUDA; None where unknown."""
    try:
        return start_of(CudaVersion(major, 0), facts, matrix)
    except (Uncovered, UnseenError, NotApplicable):
        return None


def _needs(
    one: Prediction, framework: Framework, own: Seen[CudaVersion] | None, facts: Facts, matrix: Matrix
) -> tuple[Need, ...]:
    """What led to the file goes; the framework's own wheel comes."""
    out = out_of_variable(one)
    if out:
        return (out,)
    stem, start = _stem(one), _WHEELS.get(_stem(one), "-")
    wheel = next((pin for pin in pins_of(framework, facts, matrix) if re.fullmatch(rf"{start}\d+", pin.name)), None)
    if others := _of_other_cudas(stem, framework, facts, matrix):
        name = f"{wheel.name}{wheel.specifier}" if wheel else f"{start}{own.value.major if own else ''}"
        return (ChangePackages((name,), environment_of(framework, facts).interpreter, tuple(others)),)
    if wheel:
        return (wheel_need(wheel.name, wheel.specifier, framework, facts),)
    cuda = f"CUDA {own.value.major}" if own else "a CUDA that the driver supports"
    if own and stem in _WHEELS and framework.environment:
        return (InstallPackage(f"{start}{own.value.major}", interpreter=environment_of(framework, facts).interpreter),)
    return (Advice(f"Install {_NAMES[stem]} for {cuda} instead of {one.path.get()}."),)


def _of_other_cudas(stem: str, framework: Framework, facts: Facts, matrix: Matrix) -> list[str]:
    """Its wheels for a CUDA that nothing in the environment uses: they keep their file where the right one has it."""
    if stem not in _WHEELS:
        return []
    left = leftovers(environment_of(framework, facts), facts, matrix)
    return [one.name for one in left if one.name.startswith(_WHEELS[stem])]


def _left_over(needs: tuple[Need, ...], framework: Framework, facts: Facts, matrix: Matrix) -> tuple[Symptom, ...]:
    """Wheels that nobody asks for are the same fault told twice, where they all go."""
    gone = {name for need in needs if isinstance(need, ChangePackages) for name in need.remove}
    if not gone:
        return ()
    environment = environment_of(framework, facts)
    left = {one.name for one in leftovers(environment, facts, matrix)}
    return (Symptom("pip-nvidia-wheels-conflict", environment.label),) if left <= gone else ()


RULE = Rule(INSTALLED_FRAMEWORKS, check, blocks_verdict=False)
