"""Driver, CUDA and cuDNN of a Jetson, which all come with its JetPack.

Sources: NVIDIA JetPack documentation, "How to Install JetPack" (`nvidia-jetpack`); the driver is part of Jetson Linux,
whose guide has the upgrade by apt ("Over-the-Air Update").
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallCudnn, InstallDriver, InstallToolkit, as_json
from installers.effect import SystemPackageInstalled
from installers.method import Method
from installers.packages import install, manager_of, refresh
from installers.plan import Plan, Target
from installers.requirement import spoken
from installers.step import Step
from installers.steps.by_hand import ByHand

_UPGRADE = (
    "sudo sed -i -E 's/ r[0-9]+\\.[0-9]+ / rNN.N /' /etc/apt/sources.list.d/nvidia-l4t-apt-source.list\n"
    "sudo apt-get update\nsudo apt-get dist-upgrade\nsudo reboot"
)
_NAMES = {"driver": "the NVIDIA driver", "cuda": "CUDA", "cudnn": "cuDNN"}


def serves(need: InstallDriver | InstallToolkit | InstallCudnn, target: Target) -> bool:
    """A Jetson; its environments' wheels are another matter."""
    system_wide = (
        isinstance(need, InstallDriver) or "site-packages" not in need.directory
    ) and target.environment_kind != "conda"
    return target.arch == "jetson" and system_wide


def plan(need: InstallDriver | InstallToolkit | InstallCudnn, target: Target, matrix: Matrix) -> Plan:
    """One JetPack has one driver, one CUDA and one cuDNN: another version is another JetPack."""
    wanted = f"{_NAMES[as_json(need).product]}{spoken(need.versions)}"
    other = ByHand(
        f"if this JetPack lacks {wanted}, upgrade the board's system:\n{_UPGRADE}",
        "NN.N is the newest release of the same major; another major is flashed with NVIDIA SDK Manager",
    )
    if isinstance(need, InstallDriver) or manager_of(target) != "apt":
        return Plan(f"use the JetPack with {wanted}", (other,), ())
    steps: tuple[Step, ...] = (
        *refresh(target),
        install(target, "nvidia-jetpack", why="CUDA and cuDNN of this JetPack"),
        other,
    )
    return Plan(f"install {wanted} of JetPack", steps, (SystemPackageInstalled("nvidia-jetpack"),))


METHOD = Method((InstallDriver, InstallToolkit, InstallCudnn), "JetPack", plan, serves, rank=10)
