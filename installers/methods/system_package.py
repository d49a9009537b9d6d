"""Install a package of the distribution."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import AGAIN, Need
from installers.effect import SystemPackageInstalled
from installers.method import Method
from installers.packages import install, install_again, manager_of, refresh
from installers.plan import Plan, Target
from installers.requirement import exact_version
from installers.step import Step
from installers.steps.by_hand import ByHand


def serves(need: Need, target: Target) -> bool:
    """A package that is named."""
    return need.product == "system-package" and need.build != ""


def plan(need: Need, target: Target, matrix: Matrix) -> Plan:
    """With the package manager of the system, where it is known."""
    if need.spec == AGAIN:
        return _again(need.build, target)
    wanted = f"{need.build}{f' {need.spec}' if need.spec else ''}"
    if not manager_of(target):
        return Plan(f"install {wanted}", (ByHand(f"install {wanted}"),), ())
    steps = (*refresh(target), install(target, _pinned(need, target), why=need.build))
    return Plan(f"install {wanted}", steps, (SystemPackageInstalled(need.build, need.spec),))


def _again(name: str, target: Target) -> Plan:
    known = manager_of(target) != ""
    anew: tuple[Step, ...] = (ByHand(f"install the package {name} anew"),)
    if known:
        anew = (*refresh(target), install_again(target, name))
    return Plan(f"install {name} anew", anew, (SystemPackageInstalled(name, anew=True),) if known else ())


def _pinned(need: Need, target: Target) -> str:
    version = exact_version(need.spec)
    joint = {"apt": "=", "yum": "-", "dnf": "-", "zypper": "="}.get(manager_of(target), "")
    return f"{need.build}{joint}{version}" if version and joint else need.build


METHOD = Method("a package of the system", serves, plan)
