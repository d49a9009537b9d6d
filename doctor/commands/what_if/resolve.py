"""What a command changes in an environment: by rows, or by the installer's own dry run.

Sources: pip's documentation, "Installation Report" (`--dry-run --report`); `uv pip install --dry-run`, whose standard
error lists ` + name==version` and ` - name==version`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import is_rider
from compat.matrix import Matrix, accepts
from compat.spec import Spec, normal, parse_spec
from compat.traits import traits_of
from doctor.commands.dockerfile.installed import Held, Places, is_exact, version_of
from doctor.commands.dockerfile.run import Pinned
from doctor.commands.what_if.request import Command
from doctor.host import Host
from doctor.host.documents import parse_json
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import Place, value_or

_DRY_RUN_S = 300.0
_UV_LINE = re.compile(r"^ \+ ([\w.-]+)==(\S+)", re.MULTILINE)
_NOWHERE = Place("", 0)


class Change(NamedTuple):
    """A package that an environment holds afterwards in another release."""

    name: str
    before: str  # version; "" if it was not there
    after: str  # version with its build; "" if it is removed, or if only the installer knows it
    because: str = ""  # the package that requires it
    extras: tuple[str, ...] = ()

    @property
    def requirement(self) -> str:
        """As an effect names it: "torch==2.9.1+cu128"."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}" + (f"=={self.after}" if self.after else "")


class Resolved(NamedTuple):
    """What a command changes."""

    changes: tuple[Change, ...]
    unknown: tuple[str, ...] = ()  # what is not known of it
    refused: str = ""  # why the installer stops; only its dry run tells


def by_rows(command: Command, environment: Environment, facts: Facts, matrix: Matrix) -> Resolved:
    """Return the changes that rows tell; a requirement that is satisfied changes nothing."""
    python = ".".join(value_or(environment.python, "").split(".")[:2])
    places = Places(python, facts, matrix)
    before = _seeded(places, environment, matrix)
    specs = tuple(line.spec for line in command.lines)
    for line in command.lines:
        places.put(
            Pinned(
                line.spec,
                command.build,
                "",
                tool=command.tool,
                source=_NOWHERE,
                tags=command.tags,
                is_anew=command.is_anew,
                is_upgrade=command.is_upgrade,
                beside=tuple(one for one in specs if one != line.spec),
            )
        )
    after = {**places.others.get("", {}), **places.held.get("", {})}
    changes = [_change(name, one, before) for name, one in after.items() if one.version != before.get(name)]
    changes += [Change(name, before[name], "") for name in command.removed if name in before]
    unknown = [f"the release of {line.what.removeprefix('installs ')}" for line in places.unjudged]
    unknown += _newest_unknown(command, before, after, places.others.get("", {}))
    return Resolved(tuple(changes), tuple(dict.fromkeys((*unknown, *command.unread))))


def by_dry_run(command: Command, environment: Environment, host: Host) -> Resolved:
    """Return what pip or uv itself says; raises HostError if it could not be started."""
    before = {one.name: one.version for one in value_or(environment.distributions, ()) if not one.hidden_by}
    if command.tool == "uv":
        argv = ("uv", "pip", "install", "--dry-run", "--python", environment.interpreter, *command.words)
    else:
        argv = (environment.interpreter, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-",
                "--disable-pip-version-check", "--no-input", *command.words)  # fmt: skip
    ran = host.run(argv, _DRY_RUN_S)
    if ran.status != 0:
        last = [line for line in ran.stderr.splitlines() if line.strip()]
        return Resolved((), refused=(last[-1].strip()[:300] if last else f"exit status {ran.status}"))
    if command.tool == "uv":
        found = [(normal(name), version) for name, version in _UV_LINE.findall(ran.stderr + ran.stdout)]
    else:
        report = parse_json(ran.stdout)
        items = report.get("install", ()) if isinstance(report, dict) else ()
        found = [(normal(one["metadata"]["name"]), one["metadata"]["version"]) for one in items]
    return Resolved(tuple(Change(name, before.get(name, ""), version) for name, version in found))


def _seeded(places: Places, environment: Environment, matrix: Matrix) -> dict[str, str]:
    """The packages that are there, as what earlier lines installed."""
    there = {one.name: one.version for one in value_or(environment.distributions, ()) if not one.hidden_by}
    frameworks = {one.package: one for one in value_or(environment.frameworks, ())}
    held, others = places.held.setdefault("", {}), places.others.setdefault("", {})
    before = {}
    for name, version in there.items():
        public, _, local = version.partition("+")
        framework = frameworks.get(name)
        build = local or (value_or(framework.build, "") if framework and traits_of(name).tagged else "")
        before[name] = f"{public}+{build}" if build else public
        try:
            spec = parse_spec(f"{name}=={public}")._replace(build=build)
        except GpudoctorError:
            continue
        (held if framework and not is_rider(name, matrix) else others)[name] = Held(spec, _NOWHERE, "")
    return before


def _change(name: str, one: Held, before: dict[str, str]) -> Change:
    return Change(name, before.get(name, ""), one.version, because=one.brought_by, extras=one.spec.extras)


def _newest_unknown(
    command: Command, before: dict[str, str], after: dict[str, Held], without_rows: dict[str, Held]
) -> Iterator[str]:
    """Packages without rows that come in a release which only the installer knows."""
    for line in command.lines:
        try:
            spec: Spec = parse_spec(line.spec.partition(";")[0])
        except GpudoctorError:
            yield f"{line.spec[:80]} cannot be read"
            continue
        if is_exact(spec):
            continue
        there = before.get(spec.name)
        stays = there is not None and not command.is_upgrade and accepts(spec.versions, there.partition("+")[0])
        is_left = spec.name in without_rows and version_of(without_rows[spec.name].spec) == there
        if not stays and (spec.name not in after or is_left):
            yield f"the release and the requirements of {spec.name}"
