"""The newest set of versions and builds that works together in one environment, or the proof that there is none.

The search is exact: depth first over releases, newest first, in the order in which the packages were asked for. Of
each release all builds are carried along, so that a newer release is never lost for a newer build of another one. A
partial set is given up only when of some package that is still to come every build is against it, or leaves none of
another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import groupby, repeat

from compat.build import gpu_packages, is_cuda_row
from compat.matrix import Matrix
from compat.reason import BAD, UNKNOWN, Circumstances, Reason
from compat.record import NamedTuple
from compat.solve_builds import Key, SolveCandidate, candidates, newer_elsewhere, pool, solvable
from compat.solve_held import held_candidates
from compat.solve_together import (
    Clash,
    Side,
    clashes,
    common_pythons,
    compiles_alone,
    little_between,
    pairs_show_all,
    pinned_apart,
    pins_to_add,
    remarks,
    side_of,
    unsaid,
)
from compat.spec import Spec

Group = tuple[SolveCandidate, ...]  # the builds of one release
Pool = tuple[Group, ...]  # newest first
Chosen = tuple[SolveCandidate, ...]
_FEW = 4  # releases of one package


class Solution(NamedTuple):
    """One set of builds that go together."""

    chosen: Chosen  # in the order of what was asked for; what they require besides comes last
    pythons: tuple[str, ...] | None  # newest first; None where no row says any
    pins: tuple[str, ...]  # requirements to add: "nvidia-cudnn-cu12==9.10.2.21"
    doubts: tuple[Reason, ...]  # what nobody knows of it; empty where it is known to work
    remarks: tuple[str, ...]

    @property
    def python(self) -> str:
        """The Python to take: the newest one that all have wheels for, "" where that is not known."""
        return self.pythons[0] if self.pythons else ""

    @property
    def label(self) -> str:
        """The set in one line."""
        return ", ".join(one.label for one in self.chosen)


class _Pair:
    """What is against two builds: looked for as far as anybody asks."""

    def __init__(self, found: Iterator[Clash]) -> None:
        self._rest = found
        self.first = next(self._rest, None)

    @cached_property
    def bad(self) -> Clash | None:
        """The first that is surely against them."""
        if self.first is None or self.first.kind == BAD:
            return self.first
        return next((clash for clash in self._rest if clash.kind == BAD), None)


class Pairs:
    """What is against two builds in one environment with these cards, each found once.

    Driver and Python are no part of it: problems that differ in nothing else share it.
    """

    def __init__(self, circumstances: Circumstances, matrix: Matrix) -> None:
        self._circumstances = circumstances
        self._matrix = matrix
        self._found: dict[tuple[int, int], _Pair] = {}
        self._sides: dict[int, Side] = {}  # by the build's `wants`, which live as long as their side

    def __len__(self) -> int:
        """How many have been looked at."""
        return len(self._found)

    def against(self, one: SolveCandidate, other: SolveCandidate, *, sure: bool) -> Clash | None:
        """The first thing against the two whatever joins them; without `sure`, the first that is surely so."""
        key = (id(one.wants), id(other.wants))
        pair = self._found.get(key)
        if pair is None:
            turned = self._found.get((key[1], key[0]))
            pair = turned if turned and turned.first is None else _Pair(self._clashes(one, other))
            self._found[key] = pair
        return pair.first if sure else pair.bad

    def _clashes(self, one: SolveCandidate, other: SolveCandidate) -> Iterator[Clash]:
        apart = None if one.held and other.held else pinned_apart(one, other)
        if apart:
            yield apart
        elif little_between(self._side(one), self._side(other), self._circumstances, self._matrix):
            yield from unsaid(one, other)
        else:
            found = clashes((one, other), self._circumstances, self._matrix)
            yield from (clash for clash in found if clash.lasts)

    def _side(self, one: SolveCandidate) -> Side:
        side = self._sides.get(id(one.wants))
        if side is None:
            side = self._sides[id(one.wants)] = side_of(one, self._matrix)
        return side


class Problem:
    """What was asked for, with every build that comes into question."""

    def __init__(
        self,
        asked: Sequence[Spec],
        circumstances: Circumstances,
        matrix: Matrix,
        hold: Sequence[Spec] = (),
        pairs: Pairs | None = None,
    ) -> None:
        """Raises Uncovered for a package of which the matrix has no builds.

        `hold` is what is installed and must stay, each with its exact release ("numpy==1.26.4", "torch==2.9.1+cu128");
        what is asked for as well is not held. It is no part of the solution. `pairs` are those of another problem.
        """
        self.asked = tuple(asked)
        self.hold = tuple(hold)
        self.circumstances = circumstances
        self.matrix = matrix
        self.found: dict[str, tuple[SolveCandidate, ...]] = {}
        self.pairs = Pairs(circumstances, matrix) if pairs is None else pairs
        self.held = held_candidates(self.hold, self.asked, circumstances, matrix)
        self.found.update(self.held)
        self._add(list(self.asked))

    @property
    def required(self) -> tuple[str, ...]:
        """Packages that were not asked for, but that some build of those requires."""
        return tuple(self.found)[len(self.held) + len({one.name for one in self.asked}) :]

    @property
    def uncovered(self) -> tuple[Spec, ...]:
        """What was asked for and no row speaks of there: a set without it is not known not to exist."""
        return tuple(one for one in self.asked if not self.found[one.name])

    def _add(self, wanted: list[Spec]) -> None:
        for spec in wanted:
            found = candidates(spec, self.circumstances, self.matrix)
            before = self.found.get(spec.name, found)  # asked for twice: what both admit
            rows = {one.name for one in before}
            self.found[spec.name] = tuple(one for one in found if one.name in rows)
        for found in tuple(self.found.values()):
            missing = sorted(self._frameworks_in(found) - self.found.keys())
            if missing:
                self._add([Spec(name, "", "", ()) for name in missing])

    def _frameworks_in(self, found: tuple[SolveCandidate, ...]) -> set[str]:
        """Pinned packages that bring CUDA themselves, so that their build matters: torch for xformers.

        Not jax for TensorFlow 2.12: its GPU code comes in distributions that only an extra of it asks for.
        """
        pinned = {name for one in found for name in one.row.pins or ()}
        own = {name for name in pinned if name in gpu_packages(name)}
        return {name for name in own if solvable(self.matrix, name) and self._brings_cuda(name)}

    def _brings_cuda(self, name: str) -> bool:
        rows = self.matrix.rows(name, "builds")
        brings = any(is_cuda_row(row) and row.libraries in {"wheels", "bundled"} for row in rows)
        return brings and not compiles_alone(name)

    def clashes(self, chosen: Chosen) -> Iterator[Clash]:
        """What is against these builds in one environment."""
        return clashes(chosen, self.circumstances, self.matrix)

    def against(self, one: SolveCandidate, other: SolveCandidate, *, sure: bool = True) -> Clash | None:
        """The first thing against two builds in one environment, whatever joins them.

        Without `sure`, what nobody knows is not against them.
        """
        return self.pairs.against(one, other, sure=sure)


def solve(problem: Problem) -> Solution | None:
    """The newest set that is known to work, at first of builds that bring their CUDA; None where there is none."""
    own, other = (_pools(problem, own=own) for own in (True, False))
    return _best(problem, own) or (_best(problem, other) if other != own else None)


def solve_unsure(problem: Problem) -> Solution | None:
    """Where none is known to work: the newest set of which nobody knows that it does not; its `doubts` say what.

    At first only those packages are in doubt of which no build at all is known to work here.
    """
    pools = tuple(
        pool(found, sure=True, own=True) or pool(found, sure=False, own=True) for found in problem.found.values()
    )
    return _best(problem, pools) or newest_unsure(problem)


def newest_unsure(problem: Problem) -> Solution | None:
    """The newest set of which nobody knows that it does not work.

    What a build pins (`required`) is taken as it is pinned, also where it brings no CUDA of its own.
    """
    pools = (pool(found, sure=False, own=name not in problem.required) for name, found in problem.found.items())
    return _best(problem, tuple(pools), sure=False)


def none_together(problem: Problem, *, sure: bool) -> bool:
    """Whether no set holds what was asked for, whatever else joins it; with `sure`, none that is known to work."""
    return _Search(problem, sure=sure, whole=False).best(_pools(problem, own=False, sure=sure)) is None


def _pools(problem: Problem, *, own: bool, sure: bool = True) -> tuple[Pool, ...]:
    return tuple(pool(found, sure=sure, own=own) for found in problem.found.values())


def _best(problem: Problem, pools: tuple[Pool, ...], *, sure: bool = True) -> Solution | None:
    chosen = _Search(problem, sure=sure).best(pools)
    return None if chosen is None else _solution(chosen, problem)


def _solution(chosen: Chosen, problem: Problem) -> Solution:
    doubts = [reason for one in chosen for reason in one.fit.reasons if reason.kind == UNKNOWN]
    doubts += [clash.reason for clash in problem.clashes(chosen)]
    asked = problem.circumstances.python
    pythons = (asked,) if asked else common_pythons(chosen)
    pins = pins_to_add(chosen, problem.circumstances, problem.matrix)
    added = (f"{pin} is added: {why}" for pin, why in pins)
    notes = (*added, *remarks(chosen, problem.matrix), *_uncovered(problem))
    fresh = tuple(one for one in chosen if not one.held)
    return Solution(
        chosen=fresh,
        pythons=pythons,
        pins=tuple(pin for pin, _ in pins),
        doubts=tuple(dict.fromkeys(doubts)),
        remarks=notes,
    )


def _uncovered(problem: Problem) -> Iterator[str]:
    """Packages of which other platforms have newer rows: that there is nothing newer here is not certain."""
    where = problem.circumstances
    for spec in problem.asked:
        release = newer_elsewhere(spec, where, problem.matrix)
        if release:
            platform = f"{where.os_family} {where.arch}"
            yield f"no row says which builds of {spec.name} {release} there are for {platform}: newer ones may fit"


class _Open:
    """The builds of one package that go with all that were chosen, newest first; looked for as far as anybody asks."""

    def __init__(self, builds: Iterable[SolveCandidate]) -> None:
        self._found: list[SolveCandidate] = []
        self._rest = iter(builds)

    def __iter__(self) -> Iterator[SolveCandidate]:
        at = 0
        while True:
            if at == len(self._found):
                one = next(self._rest, None)
                if one is None:
                    return
                self._found.append(one)
            yield self._found[at]
            at += 1


class _Branch(NamedTuple):
    """A partial set, and for each package what may still join it."""

    chosen: Chosen
    open: tuple[_Open, ...]  # in the order of `Problem.found`


class _Search:
    """One search; the pools are those of `problem.found`, in its order.

    Where the set is not `whole`, more may join it: what that could settle is not against it.
    """

    def __init__(self, problem: Problem, *, sure: bool, whole: bool = True) -> None:
        self._problem = problem
        self._sure = sure
        self._whole = whole
        self._start: tuple[_Open, ...] = ()
        self._required_by: dict[tuple[int, int], _Open] = {}
        self._names = tuple(problem.found)
        self._asked = len(problem.found) - len(problem.required)
        found = tuple(problem.found.values())
        self._required = range(self._asked, len(found))
        self._fewest_first = sorted(range(len(found)), key=lambda at: len(found[at]))

    def best(self, pools: tuple[Pool, ...]) -> Chosen | None:
        """The first set in the order of preference."""
        if any(not one for one in pools[: self._asked]):
            return None
        few = [(at, one) for at, one in enumerate(pools[: self._asked]) if len(one) <= _FEW]
        self._start = tuple(_Open(self._fitting(at, pool, few)) for at, pool in enumerate(pools))
        start = _Branch((), self._start)
        return self._extend([start], 0) if self._has_a_future(start, 0) else None

    def _fitting(self, at: int, builds: Pool, few: list[tuple[int, Pool]]) -> Iterator[SolveCandidate]:
        """Those that go with some build of each package which has few: with no other need any be compared."""
        others = [[one for group in pool for one in group] for place, pool in few if place != at]
        for one in (one for group in builds for one in group):
            if all(any(self._pair_goes(other, one) for other in found) for found in others):
                yield one

    def _extend(self, partial: list[_Branch], at: int) -> Chosen | None:
        if at == len(self._names):
            return next((one.chosen for one in partial if self._holds(one.chosen)), None)
        idle = [] if at < self._asked else [one for one in partial if not self._is_required(at, one.chosen)]
        found = self._extend(idle, at + 1) if idle else None
        if found or len(idle) == len(partial):
            return found
        return self._choose([one for one in partial if one not in idle], at)

    def _is_required(self, at: int, chosen: Chosen) -> bool:
        return any(self._names[at] in (one.row.pins or ()) for one in chosen)

    def _choose(self, partial: list[_Branch], at: int) -> Chosen | None:
        """Release by release, newest first, each with all its builds."""
        for _, joining in groupby(_newest_first(partial, at), key=_key_of_joining):
            extended = [self._with(branch, one) for branch, one in joining if self._goes(branch.chosen, one)]
            open_ended = [branch for branch in extended if self._has_a_future(branch, at + 1)]
            found = self._extend(open_ended, at + 1) if open_ended else None
            if found:
                return found
        return None

    def _with(self, branch: _Branch, one: SolveCandidate) -> _Branch:
        still_open = tuple(_Open(self._joining(one, builds)) for builds in branch.open)
        return _Branch((*branch.chosen, one), still_open)

    def _joining(self, one: SolveCandidate, builds: Iterable[SolveCandidate]) -> Iterator[SolveCandidate]:
        return (other for other in builds if self._pair_goes(one, other))

    def _has_a_future(self, branch: _Branch, start: int) -> bool:
        """Whether each package that is still to come has a build that leaves one of every other that is to come."""
        coming = [at for at in self._fewest_first if at >= start and self._comes(at, branch.chosen)]
        if not all(any(True for _ in branch.open[at]) for at in coming):
            return False
        return all(any(self._leaves(branch, one, at, (start, coming)) for one in branch.open[at]) for at in coming)

    def _comes(self, at: int, chosen: Chosen) -> bool:
        return at < self._asked or self._is_required(at, chosen)

    def _leaves(self, branch: _Branch, one: SolveCandidate, at: int, coming: tuple[int, list[int]]) -> bool:
        """Whether it leaves a build of each of the others, and of what it requires itself."""
        start, places = coming
        more = [place for place in self._required if place >= start and self._is_required(place, (one,))]
        if not all(any(self._goes_with_each(branch.chosen, two) for two in self._partners(one, at)) for at in more):
            return False
        others = (place for place in places if place != at and place not in more)
        return all(any(self._pair_goes(one, other) for other in branch.open[place]) for place in others)

    def _partners(self, one: SolveCandidate, at: int) -> _Open:
        """The builds of what it requires that go with it: few, while all that a set leaves may be many."""
        key = (id(one), at)
        if key not in self._required_by:
            self._required_by[key] = _Open(self._joining(one, self._start[at]))
        return self._required_by[key]

    def _goes_with_each(self, chosen: Chosen, one: SolveCandidate) -> bool:
        return all(self._pair_goes(other, one) for other in chosen)

    def _pair_goes(self, one: SolveCandidate, other: SolveCandidate) -> bool:
        return self._problem.against(one, other, sure=self._sure) is None

    def _goes(self, chosen: Chosen, one: SolveCandidate) -> bool:
        """Whether nothing is against one that goes with each of those chosen, and with all of them."""
        extended = (*chosen, one)
        if pairs_show_all(extended, self._problem.matrix):
            return True
        return not any(clash.lasts and self._counts(clash) for clash in self._problem.clashes(extended))

    def _holds(self, chosen: Chosen) -> bool:
        """Whether nothing at all is against the whole set."""
        return not self._whole or not any(map(self._counts, self._problem.clashes(chosen)))

    def _counts(self, clash: Clash) -> bool:
        return self._sure or clash.kind == BAD


def _newest_first(partial: list[_Branch], at: int) -> Iterator[tuple[_Branch, SolveCandidate]]:
    """What may join each of these sets; of one release in the order of the sets, then of the builds."""
    pairs = (zip(repeat(branch), branch.open[at], strict=False) for branch in partial)
    return merge(*pairs, key=_key_of_joining, reverse=True)


def _key_of_joining(pair: tuple[_Branch, SolveCandidate]) -> Key:
    return pair[1].key
