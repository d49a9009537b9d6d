"""The driver where it is not a package of this system: Windows, WSL, the host of a container, other systems.

Source: NVIDIA's CUDA on WSL User Guide (install no Linux display driver in WSL; the Windows driver is the only one);
NVIDIA Container Toolkit documentation (the driver belongs to the host).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import DriverInstalled, Restarted
from installers.method import Method
from installers.plan import Plan, Target
from installers.requirement import spoken, wanted_version
from installers.steps.by_hand import ByHand
from installers.steps.command import Command


def serves(need: Need, target: Target) -> bool:
    """Every driver that `driver` does not serve."""
    return need.product == "driver"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """Where the driver belongs, and what to install there."""
    wanted = f"NVIDIA driver{spoken(need.spec)}"
    url = matrix.page("driver").url
    if target.wsl:
        wanted = f"NVIDIA driver{_branch(need.spec)}"
        steps = (
            ByHand(f"on Windows, install the {wanted} from {url}; install no NVIDIA driver inside WSL"),
            Command(("wsl", "--shutdown"), "WSL takes the new driver up when it starts", place="Windows"),
        )
        return Plan(f"install the {wanted} on Windows", steps, (DriverInstalled(need.spec), Restarted("wsl")))
    if target.container:
        text = f"on the container's host, install the {wanted}; a container uses its host's driver and needs none"
        return Plan(
            f"install the {wanted} on the container's host", (ByHand(text),), (DriverInstalled(need.spec), Restarted())
        )
    if target.os_family == "windows":
        text = f"download and install the {wanted} from {url}, then restart Windows"
        return Plan(f"install the {wanted}", (ByHand(text),), (DriverInstalled(need.spec, need.build), Restarted()))
    text = f"install the {wanted} with your system's packages, or from {url}; then restart"
    return Plan(f"install the {wanted}", (ByHand(text),), (DriverInstalled(need.spec, need.build), Restarted()))


def _branch(specifier: str) -> str:
    """The branch alone: releases are numbered otherwise on Windows than on Linux."""
    branch = wanted_version(specifier).partition(".")[0]
    return f" {branch} or newer" if branch else ""


METHOD = Method("the driver by hand", serves, plan, rank=60)
