"""Installed packages whose requirements a remedy would break: pip and uv warn of them, and install all the same.

Those of frameworks are held against their companions by the rules: a remedy needs the others, which `check` does not
judge. An install command needs them all, as pip itself warns of them all.
Source: pip's user guide, "Dependency resolution"; `pip check`.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.specifier import keeps
from doctor.host import Host, HostError
from doctor.host.optional_reads import text_of
from doctor.model.facts import Facts
from doctor.model.facts.environment import Distribution, Environment
from doctor.model.facts.seen import value_or
from doctor.pyenv.metadata import fields, header, metadata_file
from doctor.rules.shared.pins import Pin, applies, pin

_DIRECT_URL_BYTES = 4096


class Unmet(NamedTuple):
    """A requirement of an installed package that holds before a change and not after it."""

    package: str
    version: str
    requirement: str  # "numpy<2.2,>=1.26"; only the name where the package is removed

    def __str__(self) -> str:
        return f"{self.package} {self.version} requires {self.requirement}"


class Dependents:
    """The requirements of an environment's packages, each file read once, when a remedy changes a release."""

    def __init__(self, host: Host) -> None:
        """The machine that the packages are on."""
        self._host = host
        self._read: dict[str, str] = {}

    def broken(self, before: Facts, after: Facts) -> str:
        """The first requirement that holds before and not after, as a clause; "" for none."""
        return str(next(self.every_broken(before, after), ""))

    def every_broken(self, before: Facts, after: Facts, *, of_frameworks: bool = False) -> Iterator[Unmet]:
        """Yield each requirement that holds before and not after; those of frameworks only if they are asked for."""
        then = {one.prefix: one for one in value_or(after.environments, ())}
        for one in value_or(before.environments, ()):
            yield from self._in(one, then, after, of_frameworks=of_frameworks)

    def _in(
        self, environment: Environment, then: dict[str, Environment], facts: Facts, *, of_frameworks: bool
    ) -> Iterator[Unmet]:
        old, new = _versions(environment), _versions(then.get(environment.prefix, environment))
        changed = {name: (was, new[name]) for name, was in old.items() if new.get(name, was) != was and new[name]}
        gone = {name: (was, "") for name, was in old.items() if name not in new}
        if not changed and not gone:
            return
        judged = set() if of_frameworks else {one.package for one in value_or(environment.frameworks, ())}
        for one in value_or(environment.distributions, ()):
            if one.hidden_by or new.get(one.name) != one.version:
                continue
            if environment.keeper and self._is_of(one, environment.project):
                continue  # its manifest is what a remedy changes
            for asked in self._asked(one, gone):
                if applies(asked, facts.system, environment):
                    yield Unmet(one.name, one.version, asked.name)
            for asked in self._asked(one, changed) if one.name not in judged else ():
                kept, keeps_on = (keeps(asked.specifier, version) for version in changed[asked.name])
                if kept and not keeps_on and applies(asked, facts.system, environment):
                    yield Unmet(one.name, one.version, f"{asked.name}{asked.specifier}")

    def _asked(self, one: Distribution, names: dict[str, tuple[str, str]]) -> Iterator[Pin]:
        if one.metadata not in self._read:
            self._read[one.metadata] = self._header(one)
        text = self._read[one.metadata]
        if any(name in text for name in names):
            found = (pin(line) for line in fields(text, "Requires-Dist"))
            yield from (each for each in found if each and each.name in names and not each.optional)

    def _is_of(self, one: Distribution, project: str) -> bool:
        """Whether a distribution is the project itself, installed from its directory. Source: PEP 610."""
        told = text_of(self._host, f"{one.metadata}/direct_url.json", _DIRECT_URL_BYTES)
        return bool(project) and f'"file://{project}"' in told

    def _header(self, one: Distribution) -> str:
        """Empty for what is not a wheel's, or cannot be read."""
        try:
            return header(self._host, metadata_file(one)) if one.kind == "wheel" else ""
        except HostError:
            return ""


def _versions(environment: Environment) -> dict[str, str]:
    return {one.name: one.version for one in value_or(environment.distributions, ()) if not one.hidden_by}
