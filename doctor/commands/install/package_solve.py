"""`gpudoctor install NAME` without a CUDA version: the release and build that `matrix solve` finds for the machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compat.base.errors import GpudoctorError
from compat.base.record import NamedTuple
from compat.build import cpu_in_place_of, is_default_build
from compat.matrix import Matrix, Uncovered
from compat.reason import YES
from compat.row import FrameworkRow
from compat.solve.candidates import SolveCandidate
from compat.solve.rejections import refusals
from compat.solve.search import Problem, Solution, solve, solve_unsure
from compat.spec import Spec, normal
from compat.specifier import first_release
from compat.target import TargetMachine
from doctor.model.facts import Facts
from doctor.model.facts.environment import Environment
from doctor.model.facts.seen import value_or
from doctor.planned.planned import circumstances_of
from doctor.rules.shared.products import known_product
from installers.plan import Target
from installers.requirement import requirement_of

_OTHERS = ("cuda", "cudnn", "driver")  # what `gpudoctor install` knows besides packages


class NotSolved(GpudoctorError):
    """No release is known that works there."""


class NoSuchRelease(NotSolved):
    """No row knows a release for that platform."""

    hint = "To skip this test, add --any."


class Solved(NamedTuple):
    """What is to be installed."""

    name: str
    versions: str  # PEP 440 specifier, "==2.9.1"
    build: str = ""  # "cu128", "cuda12"; "" for the one that the package index serves by itself
    doubts: tuple[str, ...] = ()  # what is unknown of it
    pins: tuple[str, ...] = ()  # requirements to add: "nvidia-cudnn-cu12==9.10.2.21"
    row: FrameworkRow | None = None  # the build that was chosen
    pythons: tuple[str, ...] | None = None  # newest first; None where no row says any


def known_name(name: str) -> str:
    """The distribution that is meant: "torch" for "pytorch". Raises NoSuchName with what is near, and NoRows."""
    return known_product(Spec(normal(name), "", "", ()), *_OTHERS).name


def solved(asked: Spec, where: TargetMachine, hold: tuple[Spec, ...], matrix: Matrix) -> Solved:
    """The newest that is known to work there beside what is installed; raises NotSolved.

    Without a release that is known to work, the newest one that may work, with what is unknown about it.
    """
    try:
        problem = Problem((asked,), where, matrix, hold)
    except Uncovered as error:
        raise NotSolved(str(error)) from error
    if asked.versions and not problem.found.get(asked.name):
        newest = next(iter(Problem((asked._replace(versions=""),), where, matrix).found.get(asked.name, ())), None)
        others = f"; the newest known version is {newest.release}" if newest else ""
        raise NoSuchRelease(f"{asked.name} {_spoken(asked)} is unknown for it{others}")
    found = solve(problem) or solve_unsure(problem)
    if found and found.chosen:
        return _of(_as_served_by_itself(found, problem) or found, asked.name, where, matrix)
    if hold and solve(Problem((asked,), where, matrix)):
        own = "use a separate environment (--python)"
        raise NotSolved(f"{asked} conflicts with installed packages: {_in_the_way(problem, asked)}; {own}")
    alone = Problem((asked,), where, matrix) if hold else problem  # what is installed is not what stands in the way
    raise NotSolved(f"no version of {asked} is known to work there: {_why(alone)}")


def _as_served_by_itself(found: Solution, problem: Problem) -> Solution | None:
    """The same release by the build that a plain pip takes, where that one is known to work as well."""
    one = found.chosen[0]
    plain = next((other for other in problem.found[one.asked] if other.release == one.release
                  and other.row.package == one.row.package and is_default_build(other.row)
                  and other.row.build != "cpu"), None)  # fmt: skip
    if plain is None or plain is one:
        return None
    spec = Spec(one.asked, one.versions, plain.row.build, ())
    return solve(Problem((spec,), problem.circumstances, problem.matrix, problem.hold))


def _of(found: Solution, name: str, where: TargetMachine, matrix: Matrix) -> Solved:
    one: SolveCandidate = next((each for each in found.chosen if each.asked == name), found.chosen[0])
    row = one.row
    plugin = row.package.startswith(f"{name}-") and row.package.endswith("-plugin")
    build = row.package.split("-")[-2] if plugin else "" if is_default_build(row) else row.build
    doubts = tuple(dict.fromkeys(each.what for each in found.doubts))
    return Solved(
        name=name if plugin else row.package,
        versions=one.versions,
        build=build,
        doubts=doubts,
        pins=(*found.pins, *_from_an_index(found, one, where, matrix)),
        row=row,
        pythons=found.pythons,
    )


def _from_an_index(found: Solution, own: SolveCandidate, where: TargetMachine, matrix: Matrix) -> Iterator[str]:
    """Yield the builds that must come along by name: pip would bring a CPU build of them here, or none."""
    for one in found.chosen:
        release = first_release(one.row.versions)
        if one is own or one.held:
            continue
        is_unasked = own.requires(one.asked) and one.asked not in (own.row.pins or {})  # by its metadata
        if is_unasked or cpu_in_place_of(one.row, release, where.os_family, where.arch, matrix):
            yield requirement_of(one.row, one.versions)


def _spoken(asked: Spec) -> str:
    return asked.versions.removeprefix("==") + (f"+{asked.build}" if asked.build else "")


def _why(problem: Problem) -> str:
    first = next(iter(refusals(problem, None)), None)
    return f"{first.span}: {first.reason.what}" if first else "no build for its platform is known"


def _in_the_way(problem: Problem, asked: Spec) -> str:
    """What holds the newest build back that nothing else does."""
    held = [one for builds in problem.held.values() for one in builds]
    usable = (one for one in problem.found[asked.name] if one.verdict == YES)
    clashes = (problem.against(one, other) for one in usable for other in held)
    return next((clash.reason.what for clash in clashes if clash), None) or _why(problem)


def surroundings(target: Target, facts: Facts | None) -> tuple[TargetMachine, tuple[Spec, ...]]:
    """Where it is to be installed, and what is there and must stay; of another machine only its platform is known."""
    if facts is None:
        return TargetMachine(os_family=target.os_family, arch=target.arch), ()
    environment = next((one for one in value_or(facts.environments, ()) if one.interpreter == target.python), None)
    python = value_or(environment.python, "") if environment else ""
    return circumstances_of(facts, ".".join(python.split(".")[:2])), tuple(_installed(environment))


def _installed(environment: Environment | None) -> Iterable[Spec]:
    if environment is None:
        return
    builds = {one.package: value_or(one.build, "") for one in value_or(environment.frameworks, ())}
    for one in value_or(environment.distributions, ()):
        if not one.hidden_by:
            release, _, local = one.version.partition("+")
            yield Spec(one.name, f"=={release}", local or builds.get(one.name, ""), ())
