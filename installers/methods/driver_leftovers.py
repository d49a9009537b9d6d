"""Take away the libraries of another driver that an earlier installation left in the loader's way.

Sources: nvidia-installer's help (--uninstall, --silent); ldconfig(8): it makes the links of the newest library that is
left.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import MoveFilesAside, RemoveDriverLeftovers
from installers.effect import LibrariesRemoved
from installers.method import Method, on_linux
from installers.methods import files_aside
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.command import Command, Inverse


def plan(need: RemoveDriverLeftovers, target: Target, matrix: Matrix) -> Plan:
    """By the program that laid them, where it is there; else they are put aside."""
    folder = need.first.rpartition("/")[0]
    links = Command(("ldconfig",), "the symlinks point to the remaining library", needs_root=True)
    links = links._replace(inverse=Inverse((("ldconfig",),), afterwards=True))
    if need.by_runfile:
        left = Inverse(left="only NVIDIA's .run installer can restore that driver")
        argv = ("nvidia-uninstall", "--silent")
        steps: tuple[Step, ...] = (Command(argv, "NVIDIA's .run installer left them", needs_root=True, inverse=left),)
    else:
        aside = MoveFilesAside(need.first, need.pattern)
        steps = files_aside.plan(aside, target, matrix).steps
    summary = f"remove {need.pattern} from {folder}, and refresh the symlinks"
    return Plan(summary, (*steps, links), (LibrariesRemoved(need.first),))


METHOD = Method(RemoveDriverLeftovers, "libraries of another driver", plan, on_linux)
