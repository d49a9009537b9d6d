"""What nvidia-smi sets on one GPU: MIG off, a reset.

Source: nvidia-smi(1), "-mig, --multi-instance-gpu=" (it needs root; some cards take it only after a reset) and
"-r, --gpu-reset" (no process may use the GPU); NVIDIA, "MIG User Guide", "Creating GPU Instances".
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse


def serves(need: Need, target: Target) -> bool:
    """For one GPU, by its number, a reset also for all; on Linux, where alone NVIDIA has either."""
    named = (need.product == "mig" and need.where.isdigit()) or need.product == "gpu-reset"
    return named and target.os_family == "linux"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """On a container's host where this is a container: it is the host's card."""
    place = "the container's host" if target.container else ""
    which = ("-i", need.where) if need.where else ()
    name = f"GPU {need.where}" if need.where else "the GPUs"
    if need.product == "mig":
        back = Inverse((("nvidia-smi", *which, "-mig", "1"),))
        off = Command(("nvidia-smi", *which, "-mig", "0"), "the whole card again", True, place=place, inverse=back)
        profiles = f"nvidia-smi mig -i {need.where} -lgip"
        keep = ByHand(f"or keep MIG: '{profiles}' lists profiles, '-cgi PROFILE -C' in place of -lgip makes one")
        return Plan(f"turn MIG off on {name}, or create instances", (off, keep), ())
    nothing = Inverse(left="a reset changes no setting that lasts")
    reset = Command(("nvidia-smi", "--gpu-reset", *which), "no process may use it", True, place=place, inverse=nothing)
    first = ByHand("end what uses the GPU first; if the fault comes back, have the card replaced")
    return Plan(f"reset {name}", (first, reset), ())


METHOD = Method("a setting of a GPU", serves, plan)
