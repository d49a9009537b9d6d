"""Driver, CUDA and cuDNN of a Jetson, which all come with its JetPack.

Source: NVIDIA JetPack documentation, "How to Install JetPack" (`nvidia-jetpack`); the driver is part of Jetson Linux.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import SystemPackageInstalled
from installers.method import Method
from installers.packages import install, manager_of, refresh
from installers.plan import Plan, Target
from installers.requirement import spoken
from installers.step import Step
from installers.steps.by_hand import ByHand


def serves(need: Need, target: Target) -> bool:
    """A Jetson; its environments' wheels are another matter."""
    system_wide = "site-packages" not in need.where and target.environment_kind != "conda"
    return need.product in {"driver", "cuda", "cudnn"} and target.arch == "jetson" and system_wide


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """One JetPack has one driver, one CUDA and one cuDNN: another version is another JetPack."""
    wanted = f"{need.product}{spoken(need.spec)}"
    other = ByHand(f"if this JetPack has no {wanted}, flash one that has, with NVIDIA SDK Manager")
    if need.product == "driver" or manager_of(target) != "apt":
        return Plan(f"flash a JetPack with {wanted}", (other,), ())
    steps: tuple[Step, ...] = (
        *refresh(target),
        install(target, "nvidia-jetpack", why="CUDA and cuDNN of this JetPack"),
        other,
    )
    return Plan(f"install {wanted} of JetPack", steps, (SystemPackageInstalled("nvidia-jetpack"),))


METHOD = Method("JetPack", serves, plan, rank=10)
