"""The firmware of the cards' own processor (GSP), in the release of the module, by the package that has it.

Sources: packages.ubuntu.com, nvidia-firmware-580-580.95.05 and nvidia-firmware-535-server-535.183.01; Debian's
firmware-nvidia-gsp, whose release is that of the driver's packages. Elsewhere it comes with the driver itself.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ReinstallFirmware
from compat.version import DriverRelease
from installers.effect import Restarted, SystemPackageInstalled
from installers.method import Method, on_linux
from installers.methods.restart import again
from installers.packages import initial_disk, install_again, refresh
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand


def plan(need: ReinstallFirmware, target: Target, matrix: Matrix) -> Plan:
    """Reinstall the package, rebuild the initial ramdisk (the module may be loaded from there), and reboot."""
    release = need.release
    package = _package(release, target.distribution, need.source)
    summary = f"reinstall the firmware of driver {release}"
    if not package:
        return Plan(summary, (ByHand(f"reinstall driver {release}, which contains the firmware"),), ())
    steps: tuple[Step, ...] = (*refresh(target), install_again(target, package), initial_disk(target), again(target))
    return Plan(summary, steps, (SystemPackageInstalled(package, anew=True), Restarted()))


def _package(release: str, distribution: str, source: str) -> str:
    if distribution == "debian":
        return "firmware-nvidia-gsp"
    flavour = "-server" if "-server" in source else ""
    branch = DriverRelease.parse(release).branch
    return f"nvidia-firmware-{branch}{flavour}-{release}" if distribution == "ubuntu" else ""


METHOD = Method(ReinstallFirmware, "the firmware of the driver", plan, on_linux)
