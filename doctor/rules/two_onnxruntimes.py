"""Several builds of ONNX Runtime in one environment overwrite each other."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ChangePackages, Need
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment
from doctor.model.finding import Answer, Evidence, Symptom, bad, ok
from doctor.rules.shared.builds import installed, overwritten_among
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import ENVIRONMENTS

_CPU = "onnxruntime"
# All of them install the import package `onnxruntime`; the one that uses NVIDIA GPUs first.
_BUILDS = (
    "onnxruntime-gpu",
    "onnxruntime-training",
    "onnxruntime-directml",
    "onnxruntime-openvino",
    "onnxruntime-qnn",
    "onnxruntime-rocm",
    "onnxruntime-migraphx",
    _CPU,
)
_OF_THE_OTHERS = ("cpu-only-wheel", "cudart-soname-missing")  # they are judged by the files of the one that uses GPUs


def check(environment: Environment, facts: Facts, matrix: Matrix) -> Answer:
    """At most one distribution may own the import package `onnxruntime`."""
    found = {one.name: one for one in installed(environment) if one.name in _BUILDS}
    if not found:
        raise NotApplicable("no ONNX Runtime is installed")
    if len(found) == 1:
        return ok(f"only {next(iter(found))} is installed")
    keep, *others = (found[name] for name in _BUILDS if name in found)
    return bad(
        (
            f"{keep.name} and {', '.join(one.name for one in others)} are installed together: "
            "they own the same files, so the CUDA provider may be missing"
        ),
        _need(keep, others, environment),
        evidence=tuple(Evidence.at(one.place, f"{one.name} {one.version}") for one in (keep, *others)),
        explains=(
            *(Symptom(code, f"{one.name} {one.version}") for one in others for code in _OF_THE_OTHERS),
            *overwritten_among(environment, found),
        ),
    )


def _need(keep: Distribution, others: list[Distribution], environment: Environment) -> Need:
    return ChangePackages((f"{keep.name}=={keep.version}",), environment.interpreter, tuple(one.name for one in others))


RULE = Rule(ENVIRONMENTS, check)
