"""The answer to `gpudoctor matrix solve`: a set with the commands for it, or what to change; and the proof."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from compat.base.record import NamedTuple
from compat.build import follows, is_default_build, uses_opencl
from compat.can import CanAnswer
from compat.can import answer as judged
from compat.cards import GpuCard
from compat.channels import Offer, covered, is_newer, offers
from compat.matrix import Matrix, Uncovered
from compat.need import ChangePackages, CreateEnvironment, Need
from compat.platform import unpublished
from compat.reason import BAD, NO, UNKNOWN, YES
from compat.row import FrameworkRow
from compat.solve.candidates import SolveCandidate, candidate_of, pool
from compat.solve.conflicts import displaced, pins_to_add
from compat.solve.rejections import Rejection, refusals
from compat.solve.relaxations import Change, Task, changes
from compat.solve.search import Problem, Solution, newest_unsure, solve, solve_unsure
from compat.spec import Spec
from compat.target import TargetMachine
from doctor.commands.matrix.dates import OldRows
from doctor.rules.shared.products import NotJudged
from installers.choose import plan_for
from installers.plan import Target
from installers.render import commands
from installers.requirement import requirement_of

TOOLS = ("pip", "uv", "conda")
_FOLDER = ".venv"
_MOST_CHIPS = 16  # sets of them, as `can` has it


class Place(NamedTuple):
    """Where the set must work."""

    cards: tuple[GpuCard, ...]
    circumstances: TargetMachine
    is_here: bool  # read from this machine


class SolveAnswer(NamedTuple):
    """Everything there is to say."""

    specs: tuple[Spec, ...]
    place: Place
    verdict: str  # "yes", "no", "unknown"
    solution: Solution | None
    newer: Solution | None  # a newer set that is not known to fail
    refusals: tuple[Rejection, ...]
    changes: tuple[Change, ...]  # where there is no solution
    commands: dict[str, tuple[str, ...]]  # by tool
    uncovered: tuple[Spec, ...]  # of which no row speaks there
    not_judged: tuple[NotJudged, ...] = ()  # packages that the answer leaves out
    apart: tuple[Solution, ...] = ()  # what each package has alone, where there is no set of all
    by_hand: tuple[str, ...] = ()  # how to install what the commands leave out
    offers: tuple[Offer, ...] = ()  # what channels without rows of builds serve for this place, newer than the solution
    covered: tuple[str, ...] = ()  # the channels that the answer speaks of
    old: tuple[OldRows, ...] = ()  # packages whose rows are old, where that matters
    cases: tuple[SolveAnswer, ...] = ()  # one for each set of chips, where boards of one name carry several


def answer(specs: tuple[Spec, ...], place: Place, matrix: Matrix) -> SolveAnswer:
    """Solve for every chip that the cards may carry; for each of them apart if no set works on all."""
    whole = _answer(specs, place, matrix)
    places = [*islice(_by_chip(place), _MOST_CHIPS)]
    if whole.verdict == YES or len(places) == 1:
        return whole
    cases = tuple(_answer(specs, one, matrix) for one in places)
    verdicts = {case.verdict for case in cases}
    verdict = verdicts.pop() if len(verdicts) == 1 else UNKNOWN
    if verdict == NO:
        return whole
    return whole._replace(verdict=verdict, solution=None, newer=None, changes=(), commands={}, cases=cases)


def _by_chip(place: Place) -> Iterator[Place]:
    """The same place for each set of chips."""
    for chips in product(*(card.capabilities for card in place.cards)):
        cards = tuple(card._replace(capabilities=(chip,)) for card, chip in zip(place.cards, chips, strict=True))
        where = place.circumstances._replace(capabilities=tuple(dict.fromkeys(chips)))
        yield place._replace(cards=cards, circumstances=where) if place.cards else place


def _answer(specs: tuple[Spec, ...], place: Place, matrix: Matrix) -> SolveAnswer:
    """Solve, prove, and say what to change where there is nothing."""
    problem = Problem(specs, place.circumstances, matrix)
    sure = solve(problem)
    found = sure or solve_unsure(problem)
    alone = {} if found else _alone(problem)
    verdicts = {one.verdict for one in alone.values()}
    apart = [
        one for one in problem.uncovered if one.name in alone and alone[one.name].verdict == YES
    ]  # no release is both
    unsure = (
        found or problem.is_open or (not apart and NO not in verdicts and (problem.uncovered or UNKNOWN in verdicts))
    )
    verdict = YES if sure else UNKNOWN if unsure else NO
    apart_solutions = () if sure else _each_alone(problem)
    return SolveAnswer(
        specs=specs,
        place=place,
        verdict=verdict,
        solution=found,
        newer=newer_than(sure, newest_unsure(problem)) if sure else None,
        refusals=tuple(_each_once((*_refused(alone, verdict), *refusals(problem, sure)))),
        changes=() if found else changes(Task(specs, place.circumstances), matrix, problem.pairs),
        commands=install_commands(sure, place.circumstances, matrix) if sure else {},
        by_hand=by_hand(sure, matrix) if sure else (),
        uncovered=() if verdict == NO else _unspoken(problem, alone),
        apart=apart_solutions,
        offers=_offers(problem, sure, apart_solutions),
        covered=covered(specs, matrix),
    )


def _each_alone(problem: Problem) -> tuple[Solution, ...]:
    """The newest set for each of several packages in an environment of its own, as far as one is known to work."""
    if len({one.name for one in problem.asked}) < 2:
        return ()
    where, matrix = problem.circumstances, problem.matrix
    alone = (solve(Problem((one,), where, matrix, pairs=problem.pairs)) for one in problem.asked)
    return tuple(one for one in alone if one)


def _offers(problem: Problem, sure: Solution | None, apart: tuple[Solution, ...]) -> tuple[Offer, ...]:
    """What other channels serve: newer than the one package of a question has, or of what keeps several from a set.

    And the builds for CUDA of what computes with OpenCL.

    Where each of several has a set alone, any of them may keep the others from it; where there is a set of all, the
    others are what keeps one back.
    """
    where, matrix = problem.circumstances, problem.matrix
    if sure:
        one, *more = {spec.name: spec for spec in problem.asked}.values()
        chosen = {built.asked: built for built in sure.chosen}
        opencl = [spec for spec in problem.asked if uses_opencl(chosen[spec.name].row)]
        if opencl or more:
            return offers(opencl, where, matrix)
        return tuple(found for found in offers((one,), where, matrix) if is_newer(found, chosen[one.name].release))
    lacking = (name for name in problem.required if not pool(problem.found[name], sure=True, own=False))
    specs = {**{one.name: one for one in problem.asked}, **{name: Spec(name, "", "", ()) for name in lacking}}
    settled = {one.asked for solution in apart for one in solution.chosen} if len(apart) < len(problem.asked) else set()
    return offers((spec for name, spec in specs.items() if name not in settled), where, matrix)


def _alone(problem: Problem) -> dict[str, CanAnswer]:
    """What `matrix can` answers to a package of which no build at all may be chosen here, by its name.

    A search knows nothing of other platforms: that a package is not for this one, and that this is unknown,
    only this tells apart.
    """
    nothing = (one for one in problem.asked if not pool(problem.found[one.name], sure=False, own=False))
    return {one.name: judged(one, problem.circumstances, problem.matrix) for one in nothing}


def _unspoken(problem: Problem, alone: dict[str, CanAnswer]) -> tuple[Spec, ...]:
    """What no row speaks of: a row for the CPU builds of all releases does not say that there is this one."""
    unknown = (one for one in problem.asked if one.name in alone and alone[one.name].best is None)
    return tuple(dict.fromkeys((*problem.uncovered, *unknown)))


def _refused(alone: dict[str, CanAnswer], verdict: str) -> Iterator[Rejection]:
    """The reason for the verdict, if one package is the reason."""
    kind = BAD if verdict == NO else UNKNOWN
    for name, one in alone.items():
        reason = next((reason for reason in (one.best or one).reasons if reason.kind == kind), None)
        if reason:
            label = one.best.name if one.best else one.spec
            yield Rejection(name, (label,), label, reason)


def _each_once(found: tuple[Rejection, ...]) -> Iterator[Rejection]:
    """What the search says of a build too is told in the search's words: they speak of all builds alike."""
    said = [(one.package, one.reason) for one in found]
    yield from (one for at, one in enumerate(found) if said[at] not in said[at + 1 :])


def newer_than(sure: Solution, other: Solution | None) -> Solution | None:
    """The other set, if its releases are preferred to those of the one that is known to work."""
    if other is None or [one.key for one in other.chosen] <= [one.key for one in sure.chosen]:
        return None
    return other


def install_commands(solution: Solution, where: TargetMachine, matrix: Matrix) -> dict[str, tuple[str, ...]]:
    """The lines that make an environment with this set, by tool; none where it is not recorded who serves a build.

    conda makes the environment, and pip installs into it: what conda's own channels hold is not in the matrix. What
    is installed by hand afterwards is left out.
    """
    later = [one for one in solution.chosen if unpublished(one.row, matrix)]
    solution = solution._replace(chosen=tuple(one for one in solution.chosen if one not in later))
    # Whether a package index is known to have a build: its wheel was read, or the matrix names an index.
    if not solution.chosen or any(not _is_served(one.row, matrix) for one in solution.chosen):
        return {}
    tools = [one for one in TOOLS if one != "uv" or not solution.python.startswith("2.")]  # uv knows no Python 2
    return {tool: _commands(tool, solution, where, matrix) for tool in tools}


def by_hand(solution: Solution, matrix: Matrix) -> tuple[str, ...]:
    """How to install what a plain `pip install` does not bring, one sentence each."""
    found = (unpublished(one.row, matrix, one.versions) for one in solution.chosen)
    return tuple(dict.fromkeys(filter(None, found)))


def install_command(asked: Spec, row: FrameworkRow, where: TargetMachine, matrix: Matrix) -> tuple[str, ...]:
    """Return the lines that install a build with pip; none where it is not recorded who serves it."""
    if not _is_served(row, matrix):
        return ()
    target = _target("pip", where)._replace(python="python" if where.os_family == "windows" else "python3")
    one = candidate_of(asked, row, matrix)
    pins = (pin for pin, _ in pins_to_add((one,), where.python, where, matrix))
    need = ChangePackages((requirement_of(row, one.versions), *pins), target.python)
    return tuple(commands(plan_for(need, target, matrix), target))


def requirement(one: SolveCandidate) -> str:
    """What to ask an installer for, by the extra that was named where that decides who brings CUDA."""
    return f"{one.asked}[{one.extra}]{one.versions}" if one.extra else requirement_of(one.row, one.versions)


def _is_served(row: FrameworkRow, matrix: Matrix) -> bool:
    if unpublished(row, matrix):
        return False
    if not row.build or is_default_build(row):
        return True
    try:
        matrix.wheel_index(row.package, row.build, row.versions.removeprefix("=="))
    except Uncovered:
        return False
    return True


def _requirements(chosen: tuple[SolveCandidate, ...]) -> Iterator[str]:
    """What to ask an installer for; a follower comes from the index of the build that it follows."""
    builds = {one.row.package: one.row.build for one in chosen if one.row.build and not is_default_build(one.row)}
    for one in chosen:
        build = builds.get(follows(one.row.package), "")
        yield f"{requirement(one)}+{build}" if build else requirement(one)


def requirements_of(solution: Solution) -> tuple[str, ...]:
    """Everything that is asked of an installer, at once."""
    return tuple(dict.fromkeys((*_requirements(solution.chosen), *solution.pins)))


def _commands(tool: str, solution: Solution, where: TargetMachine, matrix: Matrix) -> tuple[str, ...]:
    target = _target(tool, where)
    wanted = requirements_of(solution)
    needs: list[Need] = [CreateEnvironment(_FOLDER, solution.python), ChangePackages(wanted, target.python)]
    lines = [line for need in needs for line in commands(plan_for(need, target, matrix), target)]
    for name, other in displaced(solution.chosen).items():
        releases = {one.row.package: one.versions for one in solution.chosen}
        there = target._replace(installed=frozenset((name, other)))
        need = ChangePackages((f"{other}{releases[other]}",), target.python, remove=(name,))
        lines += commands(plan_for(need, there, matrix), there)
    return tuple(lines)


def _target(tool: str, where: TargetMachine) -> Target:
    """A machine of which only this is known; the environment is the one that is made first."""
    inside = {"linux": "bin/python", "windows": r"Scripts\python.exe"}.get(where.os_family, "bin/python")
    if tool == "conda" and where.os_family == "windows":
        inside = "python.exe"
    separator = "\\" if where.os_family == "windows" else "/"
    return Target(
        os_family=where.os_family,
        distribution="",
        distribution_version="",
        arch=where.arch,
        wsl=where.wsl,
        live=False,
        python=f"{_FOLDER}{separator}{inside}",
        environment_kind="venv",
        cuda_major=0,
        prefix=_FOLDER,
        tool=tool,
    )
