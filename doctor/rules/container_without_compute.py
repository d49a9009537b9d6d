"""An image asks for driver capabilities without compute."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, bad, ok
from doctor.rules.shared.image import image_of, need_cuda_inside, said_by, set_to
from doctor.rules.shared.rule import Rule
from doctor.rules.shared.subjects import MACHINE

_VARIABLE = "NVIDIA_DRIVER_CAPABILITIES"
_ENOUGH = {"compute", "all"}
# Any other name ends the runtime's hook. Source: NVIDIA/nvidia-container-toolkit, internal/config/image/capabilities.go
# and cmd/nvidia-container-runtime-hook/container_config.go ("unsupported capabilities found").
_KNOWN = {"compute", "compat32", "graphics", "utility", "video", "display", "ngx"}


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """Unset and empty stand for utility and compute; a list counts as it is, all with anything beside it."""
    value = dict(image_of(facts).gpu_env).get(_VARIABLE, "")
    need_cuda_inside(facts)
    names = {name.strip() for name in value.split(",") if name.strip()}
    strange = sorted(names - _KNOWN) if "all" not in names else []
    if strange:
        line = ",".join(sorted((names & _KNOWN) | {"compute", "utility"}))
        return bad(
            f"the image sets {_VARIABLE}={value}: {strange[0]!r} is not a capability, so its containers do not start",
            Advice(set_to(_VARIABLE, line, facts)),
            evidence=(Evidence.at(said_by(_VARIABLE, facts), f"{_VARIABLE}={value}"),),
        )
    if not names or names & _ENOUGH:
        return ok(
            f"{_VARIABLE}={value} includes libcuda" if names else (f"{_VARIABLE} is not set, so containers get libcuda")
        )
    line = ",".join(sorted(names | {"compute", "utility"}))
    return bad(
        f"the image sets {_VARIABLE}={value}: without compute, its containers get no libcuda",
        Advice(set_to(_VARIABLE, line, facts)),
        evidence=(Evidence.at(said_by(_VARIABLE, facts), f"{_VARIABLE}={value}"),),
    )


RULE = Rule(MACHINE, check)
