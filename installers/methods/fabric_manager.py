"""The fabric manager of NVSwitch machines, in the driver's very release: any other refuses to start.

Sources: NVIDIA Fabric Manager User Guide ("Fabric Manager must match the driver"); packages.ubuntu.com,
nvidia-fabricmanager-BRANCH, whose version is the driver's release and Ubuntu's own number behind a hyphen;
aws-parallelcluster-cookbook and public cluster images for RHEL (nvidia-fabric-manager-RELEASE, from 580 on
nvidia-fabricmanager-RELEASE); apt-get(8) (`package=version`, where an asterisk at the end stands for the rest).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallFabricManager
from installers.effect import FabricManagerInstalled, ServiceRunning
from installers.method import Method, on_linux
from installers.packages import install, manager_of, refresh
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse

_UNIT = "nvidia-fabricmanager.service"


def plan(need: InstallFabricManager, target: Target, matrix: Matrix) -> Plan:
    """Install that release and start it again; where the name of the package is not known, as text.

    A container's services are its host's.
    """
    release = need.release
    summary = f"install the fabric manager {release} (the driver's version)"
    if target.container:
        return Plan(summary, (ByHand(f"on the container's host, {summary}, and start {_UNIT}"),), ())
    package = _package(release, target) if release else ""
    if not package:
        text = f"{summary}, then: sudo systemctl enable {_UNIT}; sudo systemctl restart {_UNIT}"
        return Plan(summary, (ByHand(text, "the package name in your repository is unknown"),), ())
    off = Inverse((("systemctl", "disable", "--now", _UNIT),))
    steps = (
        *refresh(target),
        install(target, package, why="only the driver's version works"),
        Command(("systemctl", "enable", _UNIT), "at every start", needs_root=True, inverse=off),
        Command(("systemctl", "restart", _UNIT), "now, in place of the other version", needs_root=True, inverse=off),
    )
    return Plan(summary, steps, (FabricManagerInstalled(release), ServiceRunning(_UNIT)))


_RENAMED_FROM = 580  # NVIDIA's package for RHEL and its kin has no hyphen in its name from this branch on


def _package(release: str, target: Target) -> str:
    """Its name with its release; "" where it is not known."""
    branch = release.partition(".")[0]
    if target.distribution == "ubuntu":
        return f"nvidia-fabricmanager-{branch}={release}*"
    if manager_of(target) == "dnf":
        name = "nvidia-fabricmanager" if int(branch) >= _RENAMED_FROM else "nvidia-fabric-manager"
        return f"{name}-{release}"
    return ""


METHOD = Method(InstallFabricManager, "the fabric manager", plan, on_linux)
