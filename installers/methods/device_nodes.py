"""Make the driver's device nodes.

Source: nvidia-modprobe(1): -u loads nvidia-uvm and makes its nodes, -c makes the node of a minor number.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import MakeDeviceNodes
from installers.effect import NodesMade
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.steps.by_hand import ByHand
from installers.steps.command import Command, Inverse


def plan(need: MakeDeviceNodes, target: Target, matrix: Matrix) -> Plan:
    """The setuid program that the driver brings for it; in a container the nodes are the host's to give."""
    summary = "make the NVIDIA device nodes"
    if target.wsl:
        text = "WSL has no /dev/nvidia*: the GPU is /dev/dxg; update WSL with `wsl --update` on Windows"
        return Plan(summary, (ByHand(text),), ())
    stay = Inverse(left="the modules and the nodes stay until the next boot")
    make = Command(
        ("nvidia-modprobe", "-u", "-c=0"), "load the modules and make the nodes", needs_root=True, inverse=stay
    )
    if target.container:
        again = ByHand("then start the container again with its GPUs (docker run --gpus all)")
        return Plan(summary, (make._replace(place="the container's host"), again), ())
    return Plan(summary, (make,), (NodesMade(),))


METHOD = Method(MakeDeviceNodes, "device nodes", plan, on_linux)
