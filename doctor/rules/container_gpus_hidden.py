"""An image hides the GPUs from its containers."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.image import image_of, need_cuda_inside, said_by, set_to
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_VARIABLE = "NVIDIA_VISIBLE_DEVICES"
_HIDES = {
    "": "an empty value means no GPUs",
    "void": "void means no GPUs",
    "none": "none means the driver's files without a GPU",
}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """`docker run --gpus` overrides it, a runtime that is the default or named by --runtime does not."""
    given = dict(image_of(facts).gpu_env)
    need_cuda_inside(facts)
    if _VARIABLE not in given:
        return ok(f"{_VARIABLE} is set at the start of a container")
    value = given[_VARIABLE].strip()
    hides = _hides([name.strip() for name in value.split(",") if name.strip()])
    if hides is None:
        return ok(f"{_VARIABLE}={value}")
    return bad(
        f"the image sets {_VARIABLE}={value}, which hides the GPUs unless --gpus overrides it",
        Advice(set_to(_VARIABLE, "all", facts)),
        severity=Severity.WARNING,
        evidence=(Evidence.at(said_by(_VARIABLE, facts), f"{_VARIABLE}={value}: {_HIDES[hides]}"),),
    )


def _hides(names: list[str]) -> str | None:
    """What in a list hides all GPUs: void anywhere, none before all. Source: NVIDIA/nvidia-container-toolkit,
    internal/config/image/cuda_image.go and devices.go.
    """
    if not names or "void" in names:
        return "void" if names else ""
    return "none" if next((name for name in names if name in {"all", "none"}), "") == "none" else None


RULE = Rule(MACHINE, check)
