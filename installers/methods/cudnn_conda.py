"""cuDNN in a conda environment.

Source: NVIDIA cuDNN installation guide, "Conda Installation"; conda-forge's cudnn and cuda-version packages.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import Need
from installers.method import Method
from installers.plan import Command, Inverse, Plan, Target


def serves(need: Need, target: Target) -> bool:
    """An environment that conda made."""
    return need.product in {"cudnn", "cuda"} and target.environment_kind == "conda" and target.prefix != ""


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """From conda-forge, for one CUDA: `cuda-version` holds the builds together."""
    name = {"cudnn": "cudnn", "cuda": "cuda-toolkit"}[need.product]
    spec = need.spec
    wanted: tuple[str, ...] = (f"{name}{spec}",)
    if need.product == "cuda" and spec:
        wanted = (name, f"cuda-version{spec}")
    elif need.build:
        wanted = (*wanted, f"cuda-version={need.build}")
    again = ("--force-reinstall",) if need.product == "cudnn" else ()  # its files may have been changed by hand
    argv = ("conda", "install", "-y", *again, "-p", target.prefix, "-c", "conda-forge", *wanted)
    step = Command(argv, name, timeout_s=3600, inverse=_earlier(name, target))
    return Plan(f"install {name}{spec} in {target.prefix}", (step,))


def _earlier(name: str, target: Target) -> Inverse:
    """conda numbers the states of an environment, and goes back to one of them."""
    left = f"for all that changed: conda list -p {target.prefix} --revisions, conda install -p {target.prefix} "
    return Inverse((("conda", "remove", "-y", "-p", target.prefix, name),), f"{left}--revision NUMBER")


METHOD = Method("cuDNN and CUDA with conda", serves, plan, rank=10)
