"""Let Debian's alternative lead to the libraries of another driver that is installed.

Source: README.alternatives of Debian's nvidia-graphics-drivers (the alternative "nvidia", /usr/lib/nvidia/nvidia, leads
to /usr/lib/nvidia/NAME, and with it the libraries to lib/*/nvidia/NAME); update-glx(8).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import DriverInstalled, Restarted
from installers.method import Method
from installers.methods.restart import again
from installers.plan import Plan, Target
from installers.requirement import spoken
from installers.steps.command import Command, Inverse


def serves(need: Need, target: Target) -> bool:
    """On the system whose alternative it is."""
    return need.product == "glx-alternative"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """`where` is the directory that stands for the driver."""
    choose = Command(
        ("update-glx", "--set", "nvidia", need.where),
        "the libraries of the driver whose module is loaded",
        needs_root=True,
        inverse=Inverse((("update-glx", "--auto", "nvidia"),)),
    )
    return Plan(
        f"let Debian's alternative lead to driver{spoken(need.spec)}",
        (choose, again(target)),
        (DriverInstalled(need.spec), Restarted()),
    )


METHOD = Method("Debian's alternative of the driver", serves, plan)
