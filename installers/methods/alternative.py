"""Let one of the system's alternatives lead to what is there.

Source: update-alternatives(1): --install registers a path, and in automatic mode the link follows the highest priority
of those that exist. NVIDIA's packages register /usr/local/cuda with 128 for CUDA 12.8.
"""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import SetAlternative
from installers.effect import LinkMade
from installers.method import Method, on_linux
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def plan(need: SetAlternative, target: Target, matrix: Matrix) -> Plan:
    """`where` is the name that programs use, `spec` where it shall lead."""
    name = need.name.rpartition("/")[2]
    digits = re.search(r"(\d+)\.(\d+)$", need.target)
    priority = f"{digits[1]}{digits[2]}" if digits else "1"
    argv = ("update-alternatives", "--install", need.name, name, need.target, priority)
    back = Inverse((("update-alternatives", "--remove", name, need.target),))
    step = Command(argv, "and forget alternatives that no longer exist", needs_root=True, inverse=back)
    return Plan(f"point the alternative {name} to {need.target}", (step,), (LinkMade(need.name, need.target),))


METHOD = Method(SetAlternative, "a system alternative", plan, on_linux)
