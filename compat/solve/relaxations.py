"""The smallest changes after which a set exists, each of them solved again before it is offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING, TypeVar

from compat.base.record import NamedTuple
from compat.matrix import Matrix, Uncovered
from compat.reason import BAD, driver_drives, forward_packages
from compat.solve.pairs import Pairs
from compat.solve.search import Problem, Solution, none_together, solve, solve_unsure
from compat.spec import Spec
from compat.target import TargetMachine
from compat.version import DriverRelease

if TYPE_CHECKING:
    from compat.artefact import ForwardCompatRow  # only a question asks for these

T = TypeVar("T")
_THREE = 3


class Task(NamedTuple):
    """One environment: what must work in it, and where."""

    asked: tuple[Spec, ...]
    circumstances: TargetMachine


class Change(NamedTuple):
    """What to change, and the set of each environment then."""

    kinds: tuple[str, ...]  # "driver", "forward-compat", "python", "environments", "drop", "relax"
    what: str  # "driver 580 or newer"
    tasks: tuple[Task, ...]
    solutions: tuple[Solution, ...]  # one a task


class _Step(NamedTuple):
    """One thing to change: what it is called, and the tasks that it leads to."""

    kind: str
    what: str
    tasks: tuple[Task, ...]


def changes(task: Task, matrix: Matrix, pairs: Pairs | None = None) -> tuple[Change, ...]:
    """Single changes that make a set possible; pairs of them where no single one does.

    `pairs` are those of the problem that has no solution. Where no change helps, single ones after which is unknown
    that there is none: the `doubts` of their sets say so.
    """
    apart = _Apart(matrix, Pairs(task.circumstances, matrix) if pairs is None else pairs)
    apart.learn(task, sure=True)
    known = _Search(matrix, apart, sure=True)
    return known.single(task) or known.pairs(task) or _Search(matrix, apart, sure=False).single(task)


class _Apart:
    """Twos and threes of what was asked for that nothing brings together: a set that holds them is not looked for."""

    def __init__(self, matrix: Matrix, pairs: Pairs) -> None:
        self._matrix = matrix
        self._pairs = pairs
        self._tried: dict[tuple[Task, bool], bool] = {}
        self._problems: dict[Task, Problem] = {}
        self._threes: dict[tuple[Spec, ...], None] = {}  # that are apart under some circumstances

    def problem(self, task: Task) -> Problem:
        """A task's problem, which shares what was found about pairs of builds; one for one task."""
        if task not in self._problems:
            self._problems[task] = Problem(task.asked, task.circumstances, self._matrix, pairs=self._pairs)
        return self._problems[task]

    def holds_some(self, task: Task, *, sure: bool) -> bool:
        """Whether two of its packages are known to be apart here, or even where less is asked for; or three are."""
        if any(self._tried.get(one) for one in self._looser(task, sure=sure)):
            return True
        threes = [three for three in self._threes if set(three) <= set(task.asked)]
        return any(self._are_apart(Task(three, task.circumstances), sure=sure) for three in threes)

    def learn(self, task: Task, *, sure: bool) -> None:
        """Look for such two in a task that has no solution, those first that are apart under all circumstances.

        Where there are none, for three: they are few, and quickly looked at elsewhere once they are known to be apart.
        """
        for one, of in self._looser(task, sure=sure):
            if self._are_apart(one, sure=of):
                return
        if len(task.asked) > _THREE:
            each = combinations(task.asked, _THREE)
            found = next((one for one in each if self._are_apart(Task(one, task.circumstances), sure=sure)), None)
            if found is not None:
                self._threes[found] = None

    def _are_apart(self, task: Task, *, sure: bool) -> bool:
        if (task, sure) not in self._tried:
            self._tried[task, sure] = none_together(self.problem(task), sure=sure)
        return self._tried[task, sure]

    def _looser(self, task: Task, *, sure: bool) -> Iterator[tuple[Task, bool]]:
        asked, where = task
        anywhere = where._replace(driver=None, forward=None, python="")
        of_python = anywhere._replace(python=where.python)
        for one in dict.fromkeys(((anywhere, False), (of_python, False), (of_python, sure), (where, sure))):
            yield from ((Task(two, one[0]), one[1]) for two in combinations(asked, 2))


class _Search:
    """Solves tasks, each once."""

    def __init__(self, matrix: Matrix, apart: _Apart, *, sure: bool) -> None:
        self._matrix = matrix
        self._apart = apart
        self._sure = sure
        self._solved: dict[Task, Solution | None] = {}

    def single(self, task: Task) -> tuple[Change, ...]:
        """One change."""
        found = [change for step in _steps(task) for change in self.tried((), step)]
        return (*found, *self.with_driver((), _Step("", "", (task,))), *self.with_package(task))

    def pairs(self, task: Task) -> tuple[Change, ...]:
        """Two changes at once; the driver comes last, for what it must run is known only then."""
        return tuple(change for step in _steps(task) for change in self._second(step))

    def _second(self, step: _Step) -> Iterator[Change]:
        yield from self.with_driver((step,), step)
        if step.kind == "python":
            for other in _steps(step.tasks[0]):
                yield from self.tried((step,), other)

    def tried(self, before: tuple[_Step, ...], step: _Step) -> Iterator[Change]:
        """The change, if all its environments have a set."""
        solutions = self._all(step.tasks)
        if solutions:
            steps = (*before, step)
            yield Change(tuple(one.kind for one in steps), _spoken(steps, solutions), step.tasks, solutions)

    def with_driver(self, before: tuple[_Step, ...], step: _Step) -> Iterator[Change]:
        """The oldest newer driver under which all have a set."""
        if step.tasks[0].circumstances.driver is None or not self._all(_on(step.tasks, None)):
            return
        releases = self._drivers(step.tasks[0].circumstances)
        oldest = _first(releases, lambda release: bool(self._all(_on(step.tasks, release))))
        if oldest is not None:
            then = _Step("driver", f"driver {oldest} or newer", _on(step.tasks, oldest))
            yield from self.tried(before, then)

    def with_package(self, task: Task) -> Iterator[Change]:
        """NVIDIA's package for an older driver: of the first CUDA that will do."""
        rows = sorted(forward_packages(task.circumstances, self._matrix), key=lambda row: row.cuda)
        for _, of_major in groupby(rows, key=lambda row: row.cuda.major):
            packages = list(of_major)  # each serves all that those before it serve
            if self._all(_beside(task, packages[-1])):
                package = _first(packages[:-1], lambda row: bool(self._all(_beside(task, row)))) or packages[-1]
                then = _beside(task, package)
                yield from self.tried((), _Step("forward-compat", f"{package.id} beside the driver", then))
                return

    def _drivers(self, where: TargetMachine) -> list[DriverRelease]:
        """Releases at which something changes, oldest first: floors of toolkits, and branches that drive the cards."""
        floors = {
            getattr(row, f"driver_floor_{where.driver_family}", None) for row in self._matrix.rows("cuda", "toolkits")
        }
        branches = {DriverRelease((row.branch,)) for row in self._matrix.rows("driver", "branches")}
        newer = {
            one for one in floors | branches if one is not None and where.driver is not None and one > where.driver
        }
        return sorted(one for one in newer if self._drives(one, where))

    def _drives(self, driver: DriverRelease, where: TargetMachine) -> bool:
        try:
            return all(driver_drives(gpu, driver, self._matrix).kind != BAD for gpu in where.capabilities)
        except Uncovered:
            return False

    def _all(self, tasks: tuple[Task, ...]) -> tuple[Solution, ...]:
        """A solution for each task, none at all unless all have one."""
        found = []
        for task in tasks:
            if task not in self._solved:
                self._solved[task] = self._solution(task)
            solution = self._solved[task]
            if solution is None:
                return ()
            found.append(solution)
        return tuple(found)

    def _solution(self, task: Task) -> Solution | None:
        if self._apart.holds_some(task, sure=self._sure):
            return None
        found = (solve if self._sure else solve_unsure)(self._apart.problem(task))
        if found is None:
            self._apart.learn(task, sure=self._sure)
        return found


def _first(releases: Sequence[T], works: Callable[[T], bool]) -> T | None:
    """The first that works, by halving: what a driver runs, every newer one that drives the cards runs too."""
    low, high = 0, len(releases)
    while low < high:
        middle = (low + high) // 2
        if works(releases[middle]):
            high = middle
        else:
            low = middle + 1
    return releases[low] if low < len(releases) else None


def _beside(task: Task, package: ForwardCompatRow) -> tuple[Task]:
    return (Task(task.asked, task.circumstances._replace(forward=package.cuda)),)


def _on(tasks: tuple[Task, ...], driver: DriverRelease | None) -> tuple[Task, ...]:
    return tuple(task._replace(circumstances=task.circumstances._replace(driver=driver)) for task in tasks)


def _steps(task: Task) -> Iterator[_Step]:
    """Every single change but that of the driver."""
    asked, where = task
    if where.python:
        yield _Step("python", "another Python", (Task(asked, where._replace(python="")),))
    for one in asked:
        if one.versions or one.build:
            loose = tuple(each._replace(versions="", build="") if each is one else each for each in asked)
            yield _Step("relax", f"another version of {_name(one, asked)}", (Task(loose, where),))
    yield from _splits(task)
    for one in asked if len(asked) > 1 else ():
        yield _Step(
            "drop", f"without {_name(one, asked)}", (Task(tuple(each for each in asked if each is not one), where),)
        )


def _splits(task: Task) -> Iterator[_Step]:
    """Two environments, as few packages as possible in the second one."""
    asked, where = task
    for size in range(1, len(asked) // 2 + 1):
        for apart in combinations(reversed(asked), size):
            rest = tuple(one for one in asked if one not in apart)
            if len(apart) == len(rest) and asked[0] in apart:  # the same two environments, the other way round
                continue
            there = tuple(reversed(apart))
            first, second = (", ".join(_name(one, asked) for one in part) for part in (rest, there))
            what = f"use two environments: {first} in one, {second} in the other"
            yield _Step("environments", what, (Task(rest, where), Task(there, where)))


def _name(one: Spec, asked: tuple[Spec, ...]) -> str:
    """What it is called; in full where it was asked for twice."""
    return one.name if sum(each.name == one.name for each in asked) == 1 else str(one)


def _spoken(steps: tuple[_Step, ...], solutions: tuple[Solution, ...]) -> str:
    """What to change; "another Python" is named, now that it is known which."""
    pythons = dict.fromkeys(solution.python for solution in solutions if solution.python)
    named = {"another Python": f"Python {' and '.join(pythons)}" if pythons else "another Python"}
    return ", and ".join(named.get(step.what, step.what) for step in steps)
