"""A virtual GPU has a profile without CUDA, or no licence: CUDA is off then."""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import Advice
from doctor.model.facts import Facts
from doctor.model.facts.gpu import Gpu
from doctor.model.facts.seen import Seen
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import GPUS, need_live

# How the name of a virtual GPU ends: its memory in GB, and its series. Source: NVIDIA vGPU software, "Virtual GPU
# Types" and "Client Licensing": Q and C are for computing, B and A for desktops and single applications.
_NAME = re.compile(r"-\d+([ABCQ])$")
_WITHOUT_CUDA = "AB"


def check(gpu: Gpu, facts: Facts, matrix: Matrix) -> Answer:
    """Read the series from the name, and the licence from NVML."""
    need_live(facts)
    found = _NAME.search(gpu.name.get())
    if not found:
        raise NotApplicable(f"{gpu.label} is no virtual GPU")
    if isinstance(gpu.licensed, Seen) and gpu.licensed.value is False:
        return bad(
            f"{gpu.label} has no vGPU licence: without one, CUDA is turned off after a time",
            Advice(
                "Put the client configuration token of the licence server into /etc/nvidia/ClientConfigToken, then "
                "run: sudo systemctl restart nvidia-gridd. Check with: nvidia-smi -q | grep -i license"
            ),
            evidence=(Evidence.of(gpu.licensed, "not licensed"),),
        )
    if found[1] in _WITHOUT_CUDA:
        return bad(
            f"{gpu.label} is a virtual GPU of the {found[1]} series, which is not made for CUDA",
            Advice("Give the virtual machine a profile of the C or Q series, on the host."),
            severity=Severity.WARNING,
            evidence=(Evidence.of(gpu.name, gpu.name.get()),),
        )
    licence = gpu.licensed.get()
    return ok(f"{gpu.label} {'has a licence' if licence else 'needs no licence'}")


RULE = Rule(GPUS, check, blocks_verdict=False)
