"""Let one of the system's alternatives lead to what is there.

Source: update-alternatives(1): --install registers a path, and in automatic mode the link follows the highest priority
of those that exist. NVIDIA's packages register /usr/local/cuda with 128 for CUDA 12.8.
"""

from __future__ import annotations

import re

from compat.matrix import Matrix
from compat.need import Need
from installers.effect import LinkMade
from installers.method import Method
from installers.plan import Plan, Target
from installers.steps.command import Command, Inverse


def serves(need: Need, target: Target) -> bool:
    """On Linux."""
    return need.product == "alternative" and need.spec != "" and target.os_family == "linux"


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """`where` is the name that programs use, `spec` where it shall lead."""
    name = need.where.rpartition("/")[2]
    digits = re.search(r"(\d+)\.(\d+)$", need.spec)
    priority = f"{digits[1]}{digits[2]}" if digits else "1"
    argv = ("update-alternatives", "--install", need.where, name, need.spec, priority)
    back = Inverse((("update-alternatives", "--remove", name, need.spec),))
    step = Command(argv, "and forget those that are gone", needs_root=True, inverse=back)
    return Plan(f"let the alternative {name} lead to {need.spec}", (step,), (LinkMade(need.where, need.spec),))


METHOD = Method("an alternative of the system", serves, plan)
