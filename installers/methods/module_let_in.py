"""Let modprobe load the driver's module again: a laptop's switch, or a line of modprobe.d, keeps it away.

Sources: modprobe.d(5), "blacklist" and "install"; the helps of prime-select, envycontrol and supergfxctl; NVIDIA Driver
Installation Guide, "Disable Nouveau" (the initial disk carries a copy of modprobe's settings).
"""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import ABSENT, Need
from installers.effect import Restarted
from installers.method import Method
from installers.methods.restart import again
from installers.packages import initial_disk
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse

_ON = {"prime-select": ("on-demand",), "envycontrol": ("-s", "hybrid"), "supergfxctl": ("-m", "Hybrid")}
_OFF = {"prime-select": ("intel",), "envycontrol": ("-s", "integrated"), "supergfxctl": ("-m", "Integrated")}


def serves(need: Need, target: Target) -> bool:
    """A switch that is known, or a line of a file; on Linux."""
    known = need.product == "gpu-switch" and need.build in _ON
    line = need.product == "modprobe-line" and need.spec == ABSENT and need.where != "" and need.build != ""
    return (known or line) and target.os_family == "linux"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """The line is put out of force where it stands; a switch wrote it itself, and takes it back itself."""
    restart, effects = again(target), (Restarted("machine"),)
    if need.product == "gpu-switch":
        tool = need.build
        back = Inverse(((tool, *_OFF[tool]),), "restart the machine")
        on = Command((tool, *_ON[tool]), f"the card was switched off with {tool}", needs_root=True, inverse=back)
        return Plan(f"switch the card on with {tool}, then restart", (on, restart), effects)
    literal = re.sub(r"([][\\.^$*+?(){}|#])", r"\\\1", need.build)
    argv = ("sed", "-i.bak", "-E", f"s#^[[:space:]]*({literal})[[:space:]]*$#\\# \\1#", need.where)
    back = Inverse((("mv", "--", f"{need.where}.bak", need.where),))
    out = Command(argv, "the line does nothing then; the file as it was lies beside it", needs_root=True, inverse=back)
    steps = (out, initial_disk(target), restart)
    return Plan(f"take '{need.build}' out of {need.where}, then restart", steps, effects)


METHOD = Method("a kernel module that is kept away", serves, plan)
