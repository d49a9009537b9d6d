"""Set which processes may use a GPU.

Source: nvidia-smi(1), "-c, --compute-mode": DEFAULT is 0; it needs root, and lasts until the driver is loaded again.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import SetComputeMode
from installers.effect import ComputeModeSet
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def plan(need: SetComputeMode, target: Target, matrix: Matrix) -> Plan:
    """On a container's host where this is a container: it is the host's card."""
    place = "the container's host" if target.container else ""
    back = Inverse(left=f"GPU {need.gpu} keeps the mode; nvidia-smi -c sets another one")
    argv = ("nvidia-smi", "-i", str(need.gpu), "-c", need.mode)
    why = "every process can use the card; a scheduler may set the mode again"
    command = Command(argv, why, needs_root=True, inverse=back)
    command = command._replace(place=place) if place else command
    summary = f"set the compute mode of GPU {need.gpu} to {need.mode}"
    return Plan(summary, (command,), (ComputeModeSet(need.gpu, need.mode.lower()),))


METHOD = Method(SetComputeMode, "the compute mode of a GPU", plan)
