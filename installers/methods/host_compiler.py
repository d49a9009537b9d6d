"""A C++ compiler of the distribution beside the usual one, and nvcc told to call it.

Sources: CUDA Compiler Driver NVCC, "NVCC Environment Variables" and `--compiler-bindir`. NVCC_CCBIN is newer than most
nvcc: 12.4 has no such name in its program, and calls the usual compiler; NVCC_PREPEND_FLAGS is read since 11.2.
"""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallHostCompiler
from installers.effect import HostCompilerInstalled, VariableSet
from installers.method import Method, on_linux
from installers.packages import install, manager_of, refresh
from installers.plan import Plan, Target
from installers.step import Step
from installers.steps.by_hand import ByHand
from installers.steps.set_variable import SetVariable


def plan(need: InstallHostCompiler, target: Target, matrix: Matrix) -> Plan:
    """The package leaves `g++` as it is, so nvcc must be told."""
    path = f"/usr/bin/{need.name}"
    flags = need.flags or f"-ccbin {path}"
    package = _package(need.name, target)
    if not package:
        return Plan(f"install {need.name}", (ByHand(f"install {need.name} and pass it to nvcc with -ccbin"),), ())
    steps: tuple[Step, ...] = (
        *refresh(target),
        install(target, package, why="a compiler that this nvcc accepts, beside the usual one"),
        SetVariable("NVCC_PREPEND_FLAGS", flags, f"or for one call: nvcc -ccbin {path}", ""),
    )
    effects = (HostCompilerInstalled(path), VariableSet("NVCC_PREPEND_FLAGS", flags))
    return Plan(f"install {need.name} and let nvcc use it", steps, effects)


def _package(name: str, target: Target) -> str:
    """g++-14 is a package of that name in Debian and Ubuntu, gcc14-c++ in Fedora; "" where neither is known."""
    if manager_of(target) == "apt":
        return name
    return f"gcc{name.rpartition('-')[2]}-c++" if target.distribution == "fedora" else ""


METHOD = Method(InstallHostCompiler, "a host compiler for nvcc", plan, on_linux)
