"""What nvidia-smi sets on one GPU: MIG off, a reset.

Source: nvidia-smi(1), "-mig, --multi-instance-gpu=" (it needs root; some cards take it only after a reset) and
"-r, --gpu-reset" (no process may use the GPU); NVIDIA, "MIG User Guide", "Creating GPU Instances".
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import ResetGpu, TurnMigOff
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse


def plan(need: TurnMigOff | ResetGpu, target: Target, matrix: Matrix) -> Plan:
    """On a container's host where this is a container: it is the host's card."""
    place = "the container's host" if target.container else ""
    which = () if need.gpu is None else ("-i", str(need.gpu))
    name = "the GPUs" if need.gpu is None else f"GPU {need.gpu}"
    if isinstance(need, TurnMigOff):
        back = Inverse((("nvidia-smi", *which, "-mig", "1"),))
        off = Command(("nvidia-smi", *which, "-mig", "0"), "use the whole card again", True, place=place, inverse=back)
        profiles = f"nvidia-smi mig -i {need.gpu} -lgip"
        keep = ByHand(f"or keep MIG: '{profiles}' lists profiles, '-cgi PROFILE -C' instead of -lgip creates one")
        return Plan(f"turn MIG off on {name}, or create instances", (off, keep), ())
    nothing = Inverse(left="a reset changes no permanent setting")
    reset = Command(("nvidia-smi", "--gpu-reset", *which), "no process may use it", True, place=place, inverse=nothing)
    first = ByHand("first end the programs that use the GPU; if the fault returns, replace the card")
    return Plan(f"reset {name}", (first, reset), ())


METHOD = Method((TurnMigOff, ResetGpu), "a setting of a GPU", plan, on_linux)
