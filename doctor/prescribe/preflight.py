"""What stands in the way of a remedy's commands on this machine, though what they bring about is right.

apt exits with an error where it would change a package that is held (apt-get(8), --allow-change-held-packages); pip
finds no version where a constraint forbids the one that is asked for, and refuses an environment that is none of its
own where it was told so. Each was somebody's decision, so that it is shown, not overruled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from compat.matrix import Matrix
from compat.overlap import NO, overlap
from doctor.host import Host
from doctor.model.facts import Facts
from doctor.model.facts.package_rules import Constraint, Hold, InstallerRules
from doctor.model.facts.seen import value_or
from doctor.prescribe.distributions import Coming, coming_by, environment_at
from doctor.probes import package_rules
from installers.effect import CudnnInstalled, DistributionsInstalled, DriverInstalled
from installers.plan import Plan
from installers.render.bash import quote
from installers.steps.by_hand import ByHand
from installers.steps.command import Command

_VERBS = frozenset({"install", "remove", "upgrade", "in", "rm", "dist-upgrade"})
_MANAGERS = {"apt-get": "apt", "dnf": "dnf", "dnf5": "dnf", "zypper": "zypper"}
_CONDA = frozenset({"conda", "mamba", "micromamba"})
_STOPS = {
    "apt": "held (apt-mark hold): apt stops before it changes a held package",
    "dnf": "locked (dnf versionlock): dnf ignores every other version",
    "zypper": "locked (zypper addlock): zypper stops before it changes a locked package",
}
_DRIVER = (
    r"nvidia-(driver|dkms|utils|kernel|compute-utils|open|settings|firmware|modprobe|\d)[\w.+-]*"
    r"|libnvidia-(?!container|ml-dev)[\w.+-]+|(cuda-drivers|xserver-xorg-video-nvidia|linux-modules-nvidia)[\w.+-]*"
    r"|(a?kmod-nvidia|xorg-x11-drv-nvidia|nvidia-(?!container)[\w.+-]*G0\d|x11-video-nvidia)[\w.+-]*"
)
# Packages that lean on each other's very release: one that is held holds all of them.
_FAMILIES = {DriverInstalled: _DRIVER, CudnnInstalled: r"(lib)?cudnn\d[\w.+-]*"}


class Obstacles:
    """What the package managers of a machine were told; each is asked once, when a remedy needs it."""

    def __init__(self, host: Host, matrix: Matrix) -> None:
        """The machine on which the commands are run."""
        self._host, self._matrix = host, matrix
        self._holds: dict[tuple[str, str], tuple[Hold, ...]] = {}
        self._rules: dict[str, InstallerRules] = {}

    def named_in(self, plan: Plan, facts: Facts) -> Plan:
        """The plan, with what stands in its way said first."""
        said = dict.fromkeys((*self._of_packages(plan), *self._of_conda(plan), *self._of_pip(plan, facts)))
        return plan._replace(steps=(*map(ByHand, said), *plan.steps)) if said else plan

    def _of_packages(self, plan: Plan) -> Iterator[str]:
        families = [_FAMILIES[type(one)] for one in plan.effects or () if type(one) in _FAMILIES]
        for manager, changed in _by_manager(plan).items():
            found = [
                one
                for one in self._held_by(manager)
                if any(fnmatchcase(name, one.pattern) for name in changed if name)
                or any(re.fullmatch(family, one.pattern.rstrip("*")) for family in families)
            ]
            if found:
                names = ", ".join(one.pattern for one in found)
                verb = "are" if len(found) > 1 else "is"
                lifted = "\n".join(_lifting(found))
                yield f"{names} {verb} {_STOPS[manager]}. If you agree to the change, first:\n{lifted}"

    def _of_conda(self, plan: Plan) -> Iterator[str]:
        for step in plan.steps:
            if isinstance(step, Command) and not step.place and step.argv[0] in _CONDA and "-p" in step.argv:
                prefix = step.argv[step.argv.index("-p") + 1]
                names = {re.split(r"[=<>! ]", one.rpartition("::")[2])[0] for one in step.argv[1:]}
                pinned = [one for one in self._held_by("conda", prefix) if one.pattern in names]
                for one in pinned:
                    yield f"{one.source} pins {one.pattern} for conda: if you agree, first delete its line"

    def _held_by(self, manager: str, prefix: str = "") -> tuple[Hold, ...]:
        if (manager, prefix) not in self._holds:
            self._holds[manager, prefix] = package_rules.holds(self._host, manager, prefix)
        return self._holds[manager, prefix]

    def _of_pip(self, plan: Plan, facts: Facts) -> Iterator[str]:
        for tool, step in ((_tool(step), step) for step in plan.steps):
            if not tool or not isinstance(step, Command):
                continue
            python = step.argv[0] if tool == "pip" else step.argv[step.argv.index("--python") + 1]
            environment = environment_at(python, facts)
            if environment is None:
                continue
            told = self._told(tool, environment.prefix)
            if "install" in step.argv:
                yield from told.notes
                if told.no_index:
                    yield f"{tool} uses no package index here ({told.no_index}), only the find-links directories"
                for effect in plan.effects or ():
                    if isinstance(effect, DistributionsInstalled) and effect.python == python:
                        coming = coming_by(effect, environment, facts, self._matrix)
                        yield from _forbidden(tool, told.constraints, coming, value_or(environment.python, ""))
            if told.virtualenv_only and environment.kind != "venv":
                yield (
                    f"pip changes only virtual environments here ({told.virtualenv_only}), and {environment.prefix} "
                    "is not one: create one, or if you agree to the change, first:\nexport PIP_REQUIRE_VIRTUALENV=0"
                )

    def _told(self, tool: str, prefix: str) -> InstallerRules:
        key = f"{tool} {prefix if tool == 'pip' else ''}"
        if key not in self._rules:
            made = package_rules.of_uv(self._host) if tool == "uv" else package_rules.of_pip(self._host, prefix)
            self._rules[key] = made
        return self._rules[key]


def _by_manager(plan: Plan) -> dict[str, list[str]]:
    """The packages that each is told to change, and what ubuntu-drivers chooses, by an empty name."""
    found: dict[str, list[str]] = {}
    for step in plan.steps:
        if not isinstance(step, Command) or step.place:
            continue
        if step.argv[0] in _MANAGERS and not _VERBS.isdisjoint(step.argv):
            words = (re.split(r"[=<]", one)[0] for one in step.argv[1:] if not one.startswith("-"))
            found.setdefault(_MANAGERS[step.argv[0]], []).extend(one for one in words if one not in _VERBS)
        elif step.argv[0] == "ubuntu-drivers":
            found.setdefault("apt", []).append("")
    return found


def _lifting(found: list[Hold]) -> list[str]:
    """One command for all where their program is the same: apt-mark unhold A B."""
    head = found[0].lifted_by.rpartition(" ")[0]
    return [f"{head} {' '.join(quote(one.pattern) for one in found)}"]


def _tool(step: object) -> str:
    """ "pip" or "uv" for a command that changes an environment by it, else ""."""
    if not isinstance(step, Command) or step.place:
        return ""
    if step.argv[1:3] == ("-m", "pip"):
        return "pip"
    is_uv = step.argv[0].rpartition("/")[2] == "uv" and step.argv[1:2] == ("pip",)
    return "uv" if is_uv and "--python" in step.argv else ""


def _forbidden(
    tool: str, constraints: tuple[Constraint, ...], coming: tuple[list[Coming], list[Coming]], python: str
) -> Iterator[str]:
    """What is asked for, and what it requires, each held against the constraints on its name."""
    for one in (*coming[1], *coming[0]):
        wanted = one.spec.versions or (f"=={one.version}" if one.version else "")
        for constraint in constraints:
            specifier = _specifier_on(one.name, constraint, python)
            if specifier and wanted and overlap((wanted, specifier)) == NO:
                yield f"{tool} refuses {one.name}{wanted}: {constraint.source} says {constraint.requirement}"


def _specifier_on(name: str, constraint: Constraint, python: str) -> str:
    """What a constraint says of a distribution, "" where it speaks of another one, or of another Python."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    try:
        read = Requirement(constraint.requirement)
    except InvalidRequirement:
        return ""
    if canonicalize_name(read.name) != name:
        return ""
    about = {"python_version": ".".join(python.split(".")[:2]), "python_full_version": python} if python else {}
    applies = read.marker is None or read.marker.evaluate({**about, "extra": ""})
    return str(read.specifier) if applies else ""
