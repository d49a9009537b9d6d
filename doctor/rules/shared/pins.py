"""What an installed package requires of others, and whether an installed version keeps to it."""

from __future__ import annotations

import re

from compat.base.record import NamedTuple
from compat.build import release_key
from compat.specifier import marker_holds
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.model.facts.system import SystemFacts

_LONGEST = 500  # characters
_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_EXTRAS = re.compile(r"\[[^]]*\]")


class Pin(NamedTuple):
    """One requirement of a package: PEP 508, taken apart."""

    name: str  # normalised
    specifier: str
    marker: str

    @property
    def optional(self) -> bool:
        """Whether it belongs to an extra."""
        return "extra" in self.marker


def pin(requirement: str) -> Pin | None:
    """Take a Requires-Dist line apart; None for one in no form that pins a version (a URL, damage)."""
    named = _NAME.match(requirement) if len(requirement) <= _LONGEST else None
    if not named:
        return None
    rest = requirement[named.end() :].lstrip()
    specifier, _, marker = (_EXTRAS.sub("", rest, count=1) if rest.startswith("[") else rest).partition(";")
    specifier = specifier.strip().removeprefix("(").removesuffix(")").strip()
    if ")" in specifier:
        return None
    return Pin(re.sub(r"[-_.]+", "-", named[1]).lower(), specifier, marker.lstrip())


def release_of(version: str) -> str:
    """The final release that a version belongs to: 2.10.0 of "2.10.0a0+git1234"."""
    return re.split(r"[+a-z-]|\.(?=[a-z])", version, maxsplit=1)[0]


def is_older(specifier: str, version: str) -> bool:
    """Whether a version lies below everything that a specifier names as its lower end."""
    lower = [release_key(clause) for clause in specifier.split(",") if clause.strip().startswith(("==", ">=", "~="))]
    return bool(lower) and release_key(version) < max(lower)


def applies(one: Pin, system: SystemFacts, environment: Environment) -> bool:
    """Whether a requirement's marker holds in an environment; one that cannot be evaluated does not."""
    if not one.marker:
        return True
    family, python = value_or(system.family, "linux"), value_or(environment.python, "")
    values = {
        "platform_system": {"linux": "Linux", "windows": "Windows", "macos": "Darwin"}.get(family, ""),
        "sys_platform": {"linux": "linux", "windows": "win32", "macos": "darwin"}.get(family, ""),
        "platform_machine": value_or(system.machine, ""),
        "python_version": ".".join(python.split(".")[:2]),
        "python_full_version": python,
        "extra": "",
    }
    return bool(marker_holds(one.marker, values))
