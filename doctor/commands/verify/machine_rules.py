"""What `check`'s own rules have against the driver: why CUDA, in whatever program, does not come to its GPU."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.commands.verify.subject import Known
from doctor.diagnose import answers_under_policy
from doctor.messages import cause as codes
from doctor.model.finding import Answer, Severity, Status, Symptom
from doctor.rules.shared.engine import load_rules

_CODES = (
    *(codes.DRIVER_MISSING, codes.DRIVER_MIXED, codes.DRIVER_HANG, codes.DRIVER_CRASH, codes.FABRIC, codes.COMPAT),
    *(codes.STUB, "no-kernel-module", "no-device-nodes", "device-permissions", "nouveau-in-use", "mig-misconfigured"),
    *("secure-boot-unsigned-module", "kernel-updated-dkms-missing", "driver-does-not-support-gpu"),
    *("container-without-gpu-runtime", "container-lost-gpu-cgroup", "container-image-bakes-driver-libs"),
    *("cuda-visible-devices-empty-or-invalid", "wsl-libcuda-missing", "open-kernel-module-required"),
)
# What a trial calls a driver that does not serve it.
_SYMPTOMS = {codes.DRIVER_MISSING, codes.CUDA_CALL, codes.SUSPENDED, codes.UNUSED, codes.DRIVER_MIXED, codes.HARDWARE}


def against_the_driver(known: Known, said: Iterable[Answer]) -> tuple[Answer, ...]:
    """The rules' answers that explain what trials said; none where no trial blames the driver."""
    symptoms = tuple(Symptom(one.code, one.subject) for one in said if one.kind is Status.BAD and one.code in _SYMPTOMS)
    if not symptoms:
        return ()
    found = answers_under_policy(known.facts, known.matrix, load_rules(_CODES))
    return tuple(
        one._replace(explains=(*one.explains, *(each for each in symptoms if each != (one.code, one.subject))))
        for one in found
        if one.kind is Status.BAD and one.severity is Severity.ERROR
    )
