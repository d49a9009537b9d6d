"""What `gpudoctor what-if` does, apart from reading its command line and printing."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator

from compat.base.record import NamedTuple
from compat.build import covers, default_build, has_python, release_key
from compat.matrix import Matrix, Uncovered
from compat.row import FrameworkRow
from compat.specifier import first_release
from compat.traits import traits_of
from doctor.commands.check.command import CheckSubject, host_for, report_of
from doctor.commands.dockerfile.requirements import Line, name_of
from doctor.commands.what_if.document import OF_BUILD, Answer, Broken, WhatIfDocument
from doctor.commands.what_if.request import Command, command_of
from doctor.commands.what_if.resolve import Change, Resolved, by_dry_run, by_rows
from doctor.diagnose import EXIT_BAD, EXIT_FINE, EXIT_UNKNOWN, simulation_of
from doctor.host import BadRequest, Host, HostError
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.model.finding import Answer as RuleAnswer
from doctor.model.finding import Report, Severity
from doctor.output.document import TextStyle
from doctor.output.write import deliver, format_for
from doctor.prescribe.driver import refused, release_of
from doctor.rules.shared.builds import platform_of
from installers.effect import DistributionsInstalled, DistributionsRemoved, DriverInstalled, Effect, Restarted

_READ_AT_MOST, _TRIED_AT_MOST = 120, 16  # candidates that are resolved, and that the rules are asked about
_DRIVER = re.compile(r"(?:nvidia-driver|cuda-drivers|nvidia-open|nvidia-headless|nvidia-utils)-(\d{3})(?:-.*)?")


class Question(NamedTuple):
    """A command, and the machine that it would run on; the defaults are those of the command line."""

    command: str
    pythons: tuple[str, ...] = ()
    root: str | None = None
    assume_driver: str = ""
    assume_gpus: tuple[str, ...] = ()
    online: bool = False  # ask the installer itself, with its dry run
    style: str = "text"
    output: str | None = None


def what_if(asked: Question, terminal: TextStyle) -> tuple[str, int]:
    """Return the text to print ("" when it went to a file) and the exit status; raises BadRequest."""
    command = command_of(asked.command, os.environ)
    subject = _subject(asked, command)
    host = host_for(subject)
    report = report_of(subject, time.perf_counter(), host)
    answer = _Simulation(command, report, host, Matrix.of_user()).answer(online=asked.online)
    status = EXIT_BAD if answer.breaks else EXIT_UNKNOWN if answer.unknown else EXIT_FINE
    chosen = format_for(asked.style, WhatIfDocument)
    return deliver(WhatIfDocument(answer, status), chosen, asked.output, terminal), status


def _subject(asked: Question, command: Command) -> CheckSubject:
    pythons = asked.pythons or ((command.environment,) if "/" in command.environment else ())
    return CheckSubject(
        pythons=pythons, root=asked.root, assume_driver=asked.assume_driver, assume_gpus=asked.assume_gpus
    )


class _Simulation:
    """One command on one machine."""

    def __init__(self, command: Command, report: Report, host: Host, matrix: Matrix) -> None:
        self._command, self._report, self._host, self._matrix = command, report, host, matrix
        self._facts: Facts = report.facts
        self._verifier = simulation_of(report, matrix, host)
        found = value_or(report.facts.environments, ())
        with_frameworks = (one for one in found if value_or(one.frameworks, ()))
        self._environment: Environment | None = next(with_frameworks, found[0] if found else None)

    def answer(self, *, online: bool) -> Answer:
        """Raises BadRequest."""
        if self._command.tool == "apt":
            return self._of_packages()
        environment = self._environment
        if environment is None:
            raise BadRequest("no Python environment found: give one with --python")
        resolved = (
            self._by_installer(environment)
            if online
            else by_rows(self._command, environment, self._facts, self._matrix)
        )
        if resolved.refused:
            broken = Broken("", Severity.ERROR.value, f"the installer refuses: {resolved.refused}")
            return Answer(self._command.text, environment.prefix, breaks=(broken,))
        missing = () if online else tuple(self._without_wheel(resolved.changes, environment))
        if missing:
            return Answer(
                self._command.text, environment.prefix, breaks=missing, instead=self._instead(environment, resolved)
            )
        effects = self._effects(resolved.changes, environment)
        made = self._compared(effects, resolved.changes, environment.prefix)._replace(unknown=resolved.unknown)
        instead = self._instead(environment, resolved) if made.breaks else ""
        return made._replace(instead=instead, by="dry run" if online else "rows")

    def _without_wheel(self, changes: tuple[Change, ...], environment: Environment) -> Iterator[Broken]:
        """Releases that no wheel serves here: the installer stops."""
        platform, python = platform_of(self._facts), _python_of(environment)
        for one in changes:
            public, _, build = one.after.partition("+")
            if not public or not self._matrix.has(one.name):
                continue
            rows = [row for row in self._matrix.rows(one.name, "builds") if covers(row, public)]
            rows = [row for row in rows if row.build == build or not build]
            here = [row for row in rows if platform.os_family in row.os and platform.arch in row.arch]
            if rows and not here:
                why = f"{one.name} {public} has no wheel for {platform.os_family} {platform.arch}"
                yield Broken("framework-not-published", "error", why)
            elif here and not any(has_python(row, python) for row in here):
                yield Broken(
                    "python-version-no-wheel", "error", f"{one.name} {public} has no wheel for Python {python}"
                )

    def _by_installer(self, environment: Environment) -> Resolved:
        if not self._host.is_live or self._command.tool == "conda":
            raise BadRequest("--online runs pip or uv on this machine: it does not work with --root or conda")
        try:
            return by_dry_run(self._command, environment, self._host)
        except HostError as error:
            raise BadRequest(f"the dry run did not start: {error}") from error

    def _effects(self, changes: tuple[Change, ...], environment: Environment) -> tuple[Effect, ...]:
        python = environment.interpreter or environment.prefix
        comes = tuple(one.requirement for one in changes if one.after)
        gone = tuple(one.name for one in changes if not one.after)
        found: list[Effect] = []
        if gone:
            found.append(DistributionsRemoved(python, gone))
        if comes:
            found.append(DistributionsInstalled(python, comes, anew=self._command.is_anew, tool=self._command.tool))
        return tuple(found)

    def _compared(self, effects: tuple[Effect, ...], changes: tuple[Change, ...], where: str) -> Answer:
        if not effects:
            return Answer(self._command.text, where)
        new, gone = self._verifier.compared(effects)
        known = {one.name for one in changes}
        brought = tuple(self._brought(effects, known))
        broken = tuple(map(_broken, new))
        frameworks = value_or(self._environment.frameworks, ()) if self._environment else ()
        subjects = {one.subject for one in new}
        known |= {one.package for one in frameworks if one.label in subjects}  # a rule says it already
        pins = "nvidia-" if any(one.code == "pip-nvidia-wheels-conflict" for one in new) else None
        unmet = [one for one in self._verifier.every_broken_by(effects) if one.package not in known]
        unmet = [one for one in unmet if pins is None or not one.requirement.startswith(pins)]
        broken += tuple(Broken("", Severity.WARNING.value, f"{one}: not satisfied afterwards") for one in unmet)
        return Answer(
            self._command.text, where, changes=(*changes, *brought), breaks=broken,
            fixes=tuple(map(_broken, gone)),
        )  # fmt: skip

    def _brought(self, effects: tuple[Effect, ...], known: set[str]) -> Iterator[Change]:
        """What else of the environment is then in another release: NVIDIA's wheels of a build."""
        after = {one.prefix: one for one in value_or(self._verifier.facts_after(effects).environments, ())}
        if self._environment is None or self._environment.prefix not in after:
            return
        old, new = map(_versions, (self._environment, after[self._environment.prefix]))
        for name, version in new.items():
            if name not in known and old.get(name) != version:
                yield Change(name, old.get(name, ""), version, OF_BUILD)

    def _of_packages(self) -> Answer:
        """Drivers by their packages; of others no row tells what they change."""
        drivers = [(name, found[1]) for name in self._command.system if (found := _DRIVER.fullmatch(name))]
        unknown = tuple(f"changes of the package {one}" for one in self._command.system if not _DRIVER.fullmatch(one))
        if not drivers:
            return Answer(self._command.text, "this machine", unknown=unknown)
        branch = int(drivers[0][1])
        if branch not in {row.branch for row in self._matrix.rows("driver", "branches")}:
            return Answer(self._command.text, "this machine", unknown=(f"a driver of branch {branch}", *unknown))
        spec = f">={branch},<{branch + 1}"
        effects = (DriverInstalled(spec, ""), Restarted())
        release, then = value_or(self._facts.driver.release, None), release_of(spec, self._matrix)
        change = Change("NVIDIA driver", str(release) if release else "", str(branch), drivers[0][0])
        new, gone = self._verifier.compared(effects)
        broken = tuple(map(_broken, new))
        if then and (why := refused(self._facts, then, "", self._matrix)):
            text = f"driver {branch} does not support the GPU: {why}"
            broken = (Broken("driver-does-not-support-gpu", Severity.ERROR.value, text),)
        return Answer(
            self._command.text, "this machine", changes=(change,), breaks=broken, fixes=tuple(map(_broken, gone)),
            unknown=unknown,
        )  # fmt: skip

    def _instead(self, environment: Environment, resolved: Resolved) -> str:
        """The newest release of the first requirement that changes nothing for the worse; "" if none is known.

        First those that leave the installed frameworks as they are.
        """
        asked = self._asked()
        if asked is None:
            return ""
        package, line = asked
        kept: list[tuple[str, str, tuple[Change, ...]]] = []
        others: list[tuple[str, str, tuple[Change, ...]]] = []
        installed = {one.package for one in value_or(environment.frameworks, ())} - {package}
        for version, build in self._candidates(package)[:_READ_AT_MOST]:
            spec = f"{package}=={version}" + (f"+{build}" if build else "")
            lines = tuple(one._replace(spec=spec) if one is line else one for one in self._command.lines)
            changes = by_rows(self._command._replace(lines=lines), environment, self._facts, self._matrix).changes
            if changes and changes != resolved.changes:
                touches = any(one.name in installed for one in changes)
                (others if touches else kept).append((version, build, changes))
        failed: set[tuple[str, ...]] = set()  # what else would change; another release that brings the same fails, too
        for version, build, changes in (*kept, *others):
            beside = tuple(one.requirement for one in changes if one.name != package)
            if (beside and beside in failed) or len(failed) > _TRIED_AT_MOST:
                continue
            effects = self._effects(changes, environment)
            if not self._verifier.compared(effects)[0] and not self._verifier.every_broken_by(effects):
                return self._typed(package, version, build)
            failed.add(beside or (version, build))
        return ""

    def _asked(self) -> tuple[str, Line] | None:
        """The first requirement whose releases have rows."""
        for line in self._command.lines:
            name = name_of(line.spec.partition(";")[0])
            if self._matrix.has(name):
                return name, line
        return None

    def _candidates(self, package: str) -> list[tuple[str, str]]:
        """Releases of a package for this platform, the newest first; with builds where it has several."""
        platform = platform_of(self._facts)
        python = _python_of(self._environment) if self._environment else ""
        rows: tuple[FrameworkRow, ...] = self._matrix.rows(package, "builds")
        found = {
            (first_release(row.versions), row.build if traits_of(package).tagged else "")
            for row in rows
            if platform.os_family in row.os and platform.arch in row.arch and row.versions.startswith("==")
            if "*" not in row.versions and has_python(row, python)
            if row.build != "cpu"
        }
        return sorted(found, key=lambda one: (release_key(one[0]), one[1]), reverse=True)

    def _typed(self, package: str, version: str, build: str) -> str:
        """The command to type instead."""
        tool = "uv pip" if self._command.tool == "uv" else self._command.tool
        start = f"{tool} install {package}=={version}"
        served = default_build(package, version, *platform_of(self._facts), self._matrix)
        if served and served.build == build:
            return start
        try:
            return f"{start} --index-url {self._matrix.wheel_index(package, build, version).url}" if build else start
        except Uncovered:
            return start


def _python_of(environment: Environment) -> str:
    """Return its Python, "3.12"; "" if unknown."""
    return ".".join(value_or(environment.python, "").split(".")[:2])


def _broken(answer: RuleAnswer) -> Broken:
    return Broken(answer.code, answer.severity.value, answer.why)


def _versions(environment: Environment) -> dict[str, str]:
    return {one.name: one.version for one in value_or(environment.distributions, ()) if not one.hidden_by}
