"""Install a package of the distribution."""

from __future__ import annotations

from compat.matrix import Matrix
from compat.need import InstallSystemPackage
from installers.effect import SystemPackageInstalled
from installers.method import Method
from installers.packages import install, install_again, manager_of, refresh
from installers.plan import Plan, Target
from installers.requirement import exact_version
from installers.step import Step
from installers.steps.by_hand import ByHand


def plan(need: InstallSystemPackage, target: Target, matrix: Matrix) -> Plan:
    """With the package manager of the system, where it is known."""
    if need.reinstall:
        return _again(need.name, target)
    wanted = f"{need.name}{f' {need.versions}' if need.versions else ''}"
    if not manager_of(target):
        return Plan(f"install {wanted}", (ByHand(f"install {wanted}"),), ())
    steps = (*refresh(target), install(target, _pinned(need, target), why=need.name))
    return Plan(f"install {wanted}", steps, (SystemPackageInstalled(need.name, need.versions),))


def _again(name: str, target: Target) -> Plan:
    known = manager_of(target) != ""
    anew: tuple[Step, ...] = (ByHand(f"reinstall the package {name}"),)
    if known:
        anew = (*refresh(target), install_again(target, name))
    return Plan(f"reinstall {name}", anew, (SystemPackageInstalled(name, anew=True),) if known else ())


def _pinned(need: InstallSystemPackage, target: Target) -> str:
    version = exact_version(need.versions)
    joint = {"apt": "=", "yum": "-", "dnf": "-", "zypper": "="}.get(manager_of(target), "")
    return f"{need.name}{joint}{version}" if version and joint else need.name


METHOD = Method(InstallSystemPackage, "a system package", plan)
