"""Make /dev/shm large enough.

Source: Docker documentation, `docker run --shm-size`; NCCL documentation, "Troubleshooting", shared memory.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import EnlargeSharedMemory
from installers.effect import SharedMemoryGiven
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse


def plan(need: EnlargeSharedMemory, target: Target, matrix: Matrix) -> Plan:
    """In a container its starter decides; elsewhere the mount can be enlarged as it is."""
    size = max(1, -(-need.size_bytes // (1 << 30)))
    return Plan(f"make /dev/shm at least {size} GiB", (_step(size, target),), (SharedMemoryGiven(size << 30),))


def _step(size: int, target: Target) -> Step:
    if target.container == "kubernetes":
        return ByHand(f"mount a volume at /dev/shm: emptyDir: {{medium: Memory, sizeLimit: {size}Gi}}")
    if target.container:
        runner = target.container if target.container in {"docker", "podman"} else "docker"
        return ByHand(f"start the container again with: {runner} run --shm-size={size}g ... (or --ipc=host)")
    argv = ("mount", "-o", f"remount,size={size}G", "/dev/shm")  # noqa: S108 - that very mount
    back = Inverse(left="the next boot restores its size")
    return Command(argv, "until the next boot; permanent in /etc/fstab", needs_root=True, inverse=back)


METHOD = Method(EnlargeSharedMemory, "shared memory", plan, on_linux)
