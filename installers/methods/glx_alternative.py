"""Let Debian's alternative lead to the libraries of another driver that is installed.

Source: README.alternatives of Debian's nvidia-graphics-drivers (the alternative "nvidia", /usr/lib/nvidia/nvidia, leads
to /usr/lib/nvidia/NAME, and with it the libraries to lib/*/nvidia/NAME); update-glx(8).
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import SetGlxAlternative
from installers.effect import DriverInstalled, Restarted
from installers.method import Method
from installers.methods.restart import again
from installers.plan import Plan, Target
from installers.requirement import spoken
from installers.steps.command import Command, Inverse


def plan(need: SetGlxAlternative, target: Target, matrix: Matrix) -> Plan:
    """The directory stands for the driver."""
    exact = f"=={need.release}"
    choose = Command(
        ("update-glx", "--set", "nvidia", need.directory),
        "the libraries of the loaded driver",
        needs_root=True,
        inverse=Inverse((("update-glx", "--auto", "nvidia"),)),
    )
    return Plan(
        f"point Debian's alternative to driver{spoken(exact)}",
        (choose, again(target)),
        (DriverInstalled(exact), Restarted()),
    )


METHOD = Method(SetGlxAlternative, "Debian's alternative of the driver", plan)
