"""Take away the libraries of another driver that an earlier installation left in the loader's way.

Sources: nvidia-installer's help (--uninstall, --silent); ldconfig(8): it makes the links of the newest library that is
left.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ABSENT, Need
from installers.effect import LibrariesRemoved
from installers.method import Method
from installers.methods import files_aside
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.command import Command, Inverse


def serves(need: Need, target: Target) -> bool:
    """On a Linux machine itself."""
    return need.product == "driver-leftovers" and target.os_family == "linux" and need.build != ""


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """By the program that laid them, where it is there; else they are put aside."""
    folder = need.where.rpartition("/")[0]
    links = Command(("ldconfig",), "the links lead to the library that is left", needs_root=True)
    links = links._replace(inverse=Inverse((("ldconfig",),), afterwards=True))
    if need.spec == "runfile":
        left = Inverse(left="the driver that NVIDIA's runfile installed comes back by that runfile alone")
        argv = ("nvidia-uninstall", "--silent")
        steps: tuple[Step, ...] = (Command(argv, "NVIDIA's runfile laid them", needs_root=True, inverse=left),)
    else:
        aside = Need("files-aside", ABSENT, need.where, need.build)
        steps = files_aside.plan(aside, target, matrix).steps
    summary = f"take {need.build} out of {folder}, and link what is left"
    return Plan(summary, (*steps, links), (LibrariesRemoved(need.where),))


METHOD = Method("libraries of another driver", serves, plan)
