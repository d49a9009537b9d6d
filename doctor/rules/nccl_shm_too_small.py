"""The container's shared memory is too small for several GPUs."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import EnlargeSharedMemory
from doctor.model.facts import Facts, Machine
from doctor.model.finding import Answer, Evidence, Severity, bad, ok
from doctor.rules.shared.rule import NotApplicable, Rule
from doctor.rules.shared.subjects import MACHINE, need_container, need_gpu, need_linux, need_live

_CONTAINER_DEFAULT_BYTES = 64 << 20  # what Docker and containerd give /dev/shm when nobody asks
_ENOUGH_BYTES = 1 << 30  # --shm-size=1g, NCCL User Guide, "Troubleshooting", "Docker"


def check(machine: Machine, facts: Facts, matrix: Matrix) -> Answer:
    """NCCL and data-loader workers exchange through it; the default of a container does not last."""
    need_live(facts)
    need_linux(facts)
    need_container(facts)
    need_gpu(facts)
    gpus = len(facts.gpus.get())
    if gpus < 2:
        raise NotApplicable("fewer than two GPUs")
    size = facts.system.shm_bytes.get()
    if size > _CONTAINER_DEFAULT_BYTES:
        return ok(f"shared memory: {size >> 20} MiB")
    return bad(
        f"{size >> 20} MiB of shared memory is too little for NCCL with {gpus} GPUs and for data-loader workers",
        EnlargeSharedMemory(_ENOUGH_BYTES),
        severity=Severity.WARNING,
        evidence=(Evidence.of(facts.system.shm_bytes, f"{size >> 20} MiB"), Evidence(f"{gpus} GPUs", label="NVML")),
    )


RULE = Rule(MACHINE, check, blocks_verdict=False)
