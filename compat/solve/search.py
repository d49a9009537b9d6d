"""The newest set of versions and builds that works together in one environment, or the proof that there is none.

The search is exact: depth first over releases, newest first, in the order in which the packages were asked for. Of
each release all builds are carried along, so that a newer release is never lost for a newer build of another one. A
partial set is given up only when of some package that is still to come every build is against it, or leaves none of
another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from heapq import merge
from itertools import groupby, repeat
from operator import or_

from compat.base.record import NamedTuple
from compat.build import backend_needed
from compat.matrix import Matrix
from compat.overlap import overlap
from compat.platform import usual_python
from compat.reason import BAD, NO, UNKNOWN, Reason
from compat.solve.candidates import Key, SolveCandidate, candidates, newer_elsewhere
from compat.solve.conflicts import (
    Conflict,
    clashes,
    common_pythons,
    pairs_show_all,
    pins_to_add,
    remarks,
)
from compat.solve.installed_pins import held_candidates
from compat.solve.pairs import CandidateSet, Names, Pairs, names_of
from compat.spec import Spec
from compat.target import TargetMachine
from compat.traits import traits_of

Chosen = tuple[SolveCandidate, ...]
Fields = tuple[CandidateSet, ...]
_FEW = 4  # releases of one package


class Solution(NamedTuple):
    """One set of builds that go together."""

    chosen: Chosen  # in the order of what was asked for; what they require besides comes last
    python: str  # the one to take; "" where no row says any
    pythons: tuple[str, ...] | None  # newest first; None where no row says any
    pins: tuple[str, ...]  # requirements to add: "nvidia-cudnn-cu12==9.10.2.21"
    doubts: tuple[Reason, ...]  # what is unknown of it; empty where it is known to work
    remarks: tuple[str, ...]

    @property
    def label(self) -> str:
        """The set in one line."""
        return ", ".join(one.label for one in self.chosen)


class Problem:
    """What was asked for, with every build that comes into question."""

    def __init__(
        self,
        asked: Sequence[Spec],
        circumstances: TargetMachine,
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
        self._names: dict[str, Names] = {}
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

    @property
    def is_open(self) -> bool:
        """Whether a build of the one package asked for requires releases of another of which no row speaks here."""
        if len({spec.name for spec in self.asked}) > 1:
            return False
        asked = (one for spec in self.asked for one in self.found[spec.name] if one.verdict != NO)
        pins = ((name, (one.row.pins or {}).get(name, "")) for one in asked for name in one.beside)
        needed = ((pin, self.found[name]) for name, pin in set(pins) if name in self.required)
        return any(all(overlap((pin, each.versions)) == NO for each in found) for pin, found in needed)

    def _add(self, wanted: Sequence[Spec]) -> None:
        for spec in wanted:
            found = candidates(spec, self.circumstances, self.matrix)
            before = self.found.get(spec.name, found)  # asked for twice: what both admit
            rows = () if before is found else {one.name for one in before}
            self.found[spec.name] = found if before is found else tuple(one for one in found if one.name in rows)
        for spec in wanted:
            self.found[spec.name] = self._with_backend(self.found[spec.name])
        for name in (coming := list(self.found)):  # which grows
            for missing in sorted({one for each in self.found[name] for one in each.beside} - self.found.keys()):
                self.found[missing] = candidates(Spec(missing, "", "", ()), self.circumstances, self.matrix)
                coming.append(missing)

    def _with_backend(self, found: tuple[SolveCandidate, ...]) -> tuple[SolveCandidate, ...]:
        """The builds of a package, each with the backend that comes along where none was asked for."""
        if not any(traits_of(one.row.package).backends for one in found):
            return found
        asked = [one.name for one in self.asked]
        each = ((one, backend_needed(one.row, asked)) for one in found)
        return tuple(one._replace(beside=one.beside | {name}) if name else one for one, name in each)

    def clashes(self, chosen: Chosen) -> Iterator[Conflict]:
        """What is against these builds in one environment."""
        return clashes(chosen, self.circumstances, self.matrix)

    def against(self, one: SolveCandidate, other: SolveCandidate, *, sure: bool = True) -> Conflict | None:
        """The first thing against two builds in one environment, whatever joins them.

        Without `sure`, what is unknown is not against them.
        """
        found = self.pairs.clashes(one, other)
        return next((clash for clash in found if sure or clash.kind == BAD), None)

    def unlike(self, one: SolveCandidate, others: Iterable[SolveCandidate]) -> Iterable[SolveCandidate]:
        """Of those against which the same speaks beside this build, the first."""
        firsts: dict[tuple[object, ...], SolveCandidate] = {}
        for other in others:
            asked = frozenset(item for item in other.wants.items() if item[0] in one.wants)
            kind = self.pairs.kind(other, self.view(one.asked, other.asked))
            firsts.setdefault((asked, other.row.python, kind), other)
        return firsts.values()

    def view(self, one: str, other: str) -> int:
        """Two packages' view of each other: see `Pairs.view`."""
        return self.pairs.view(self._names_in(one), self._names_in(other))

    def _names_in(self, package: str) -> Names:
        if package not in self._names:
            self._names[package] = names_of(self.found[package])
        return self._names[package]


def solve(problem: Problem) -> Solution | None:
    """The newest set that is known to work, at first of builds that bring their CUDA; None where there is none."""
    own, other = (_fields(problem, own=own) for own in (True, False))
    return _best(problem, own) or (_best(problem, other) if other != own else None)


def solve_unsure(problem: Problem) -> Solution | None:
    """Where none is known to work: the newest set of which is unknown that it does not; its `doubts` say what.

    At first only those packages are in doubt of which no build at all is known to work here.
    """
    field = problem.pairs.field
    known = [field(found, sure=True, own=True) for found in problem.found.values()]
    unsure = [field(found, sure=False, own=True) for found in problem.found.values()]
    best = tuple(one if one.builds else other for one, other in zip(known, unsure, strict=True))
    return _best(problem, best) or newest_unsure(problem)


def newest_unsure(problem: Problem) -> Solution | None:
    """The newest set of which is unknown that it does not work.

    What a build pins (`required`) is taken as it is pinned, also where it brings no CUDA of its own.
    """
    field, required = problem.pairs.field, problem.required
    fields = (field(found, sure=False, own=name not in required) for name, found in problem.found.items())
    return _best(problem, tuple(fields), sure=False)


def none_together(problem: Problem, *, sure: bool) -> bool:
    """Whether no set holds what was asked for, whatever else joins it; with `sure`, none that is known to work."""
    return _Search(problem, sure=sure, whole=False).best(_fields(problem, own=False, sure=sure)) is None


def _fields(problem: Problem, *, own: bool, sure: bool = True) -> Fields:
    return tuple(problem.pairs.field(found, sure=sure, own=own) for found in problem.found.values())


def _best(problem: Problem, fields: Fields, *, sure: bool = True) -> Solution | None:
    chosen = _Search(problem, sure=sure).best(fields)
    return None if chosen is None else _solution(chosen, problem)


def _solution(chosen: Chosen, problem: Problem) -> Solution:
    doubts = [reason for one in chosen for reason in one.fit.reasons if reason.kind == UNKNOWN]
    doubts += [clash.reason for clash in problem.clashes(chosen)]
    asked = problem.circumstances.python
    pythons = (asked,) if asked else common_pythons(chosen)
    python = usual_python(pythons or (), problem.circumstances, problem.matrix)
    pins = pins_to_add(chosen, python, problem.circumstances, problem.matrix)
    added = (f"{pin} is added: {why}" for pin, why in pins)
    notes = (*added, *remarks(chosen, problem.matrix), *_uncovered(problem))
    fresh = tuple(one for one in chosen if not one.held)
    return Solution(
        chosen=fresh,
        python=python,
        pythons=pythons,
        pins=tuple(pin for pin, _ in pins),
        doubts=tuple(dict.fromkeys(doubts)),
        remarks=notes,
    )


def _uncovered(problem: Problem) -> Iterator[str]:
    """Packages of which other platforms have newer rows: that there is nothing newer here is not certain."""
    where = problem.circumstances
    for spec in problem.asked:
        release = newer_elsewhere(spec, where.os_family, where.arch, problem.matrix)
        if release:
            platform = f"{where.os_family} {where.arch}"
            yield f"no GPU build of {spec.name} {release} for {platform} is certain; newer ones may fit"


class _Search:
    """One search; the fields are those of `problem.found`, in its order.

    Where the set is not `whole`, more may join it: what that could settle is not against it.
    """

    def __init__(self, problem: Problem, *, sure: bool, whole: bool = True) -> None:
        self._problem = problem
        self._sure = sure
        self._whole = whole
        self._names = tuple(problem.found)
        self._place = {name: at for at, name in enumerate(self._names)}
        self._asked = len(problem.found) - len(problem.required)
        self._fields: Fields = ()
        self._few: tuple[int, ...] = ()
        self._start: dict[int, int] = {}  # by place: what need be looked at
        self._rows: dict[tuple[int, int], int] = {}  # by a build's id and another place: what goes with it there

    def best(self, fields: Fields) -> Chosen | None:
        """The first set in the order of preference."""
        if any(not one.builds for one in fields[: self._asked]):
            return None
        self._fields = fields
        self._few = tuple(at for at, one in enumerate(fields[: self._asked]) if one.releases <= _FEW)
        return self._extend([()], 0) if self._has_a_future((), 0) else None

    def _extend(self, partial: list[Chosen], at: int) -> Chosen | None:
        if at == len(self._names):
            return next((one for one in partial if self._holds(one)), None)
        idle = [one for one in partial if not self._comes(at, one)]
        found = self._extend(idle, at + 1) if idle else None
        if found or len(idle) == len(partial):
            return found
        return self._choose([one for one in partial if self._comes(at, one)], at)

    def _comes(self, at: int, chosen: Chosen) -> bool:
        """Whether a package was asked for, or is required by what is chosen."""
        return at < self._asked or any(one.requires(self._names[at]) for one in chosen)

    def _choose(self, partial: list[Chosen], at: int) -> Chosen | None:
        """Release by release, newest first, each with all its builds."""
        for _, joining in groupby(self._newest_first(partial, at), key=_key_of_joining):
            extended = [(*chosen, one) for chosen, one in joining if self._goes(chosen, one)]
            open_ended = [chosen for chosen in extended if self._has_a_future(chosen, at + 1)]
            found = self._extend(open_ended, at + 1) if open_ended else None
            if found:
                return found
        return None

    def _newest_first(self, partial: list[Chosen], at: int) -> Iterator[tuple[Chosen, SolveCandidate]]:
        """What may join each of these sets; of one release in the order of the sets, then of the builds."""
        field = self._fields[at]
        pairs = (zip(repeat(chosen), field.of(self._open(chosen, at)), strict=False) for chosen in partial)
        return merge(*pairs, key=_key_of_joining, reverse=True)

    def _has_a_future(self, chosen: Chosen, start: int) -> bool:
        """Whether each package that is still to come has a build that leaves one of every other that is to come."""
        coming = (at for at in range(start, len(self._names)) if self._comes(at, chosen))
        left = {at: self._open(chosen, at) for at in coming}
        if not all(left.values()):
            return False
        fewest_first = sorted(left, key=lambda at: left[at].bit_count())
        builds = (self._fields[at].of(left[at]) for at in fewest_first)
        return all(any(self._leaves(chosen, one, left, start) for one in each) for each in builds)

    def _leaves(self, chosen: Chosen, one: SolveCandidate, left: dict[int, int], start: int) -> bool:
        """Whether it leaves a build of each of the others, and of what it requires itself."""
        at = self._place[one.asked]
        if not all(self._row(one, place) & mask for place, mask in left.items() if place != at):
            return False
        required = (place for place in range(max(start, self._asked), len(self._names)) if place not in left)
        more = (place for place in required if one.requires(self._names[place]))
        return all(self._row(one, place) & self._open(chosen, place) for place in more)

    def _open(self, chosen: Chosen, at: int) -> int:
        """The builds of a package that go with all that were chosen."""
        if at not in self._start:
            self._start[at] = self._fitting(at)
        mask = self._start[at]
        for one in chosen:
            mask &= self._row(one, at)
        return mask

    def _fitting(self, at: int) -> int:
        """Those that go with some build of each package which has few: with no other need any be compared."""
        mask = self._fields[at].all
        for place in self._few:
            if place != at:
                mask &= reduce(or_, (self._row(one, at) for one in self._fields[place].builds))
        return mask

    def _row(self, one: SolveCandidate, at: int) -> int:
        """The builds of another package that go with this one."""
        key = (id(one), at)
        row = self._rows.get(key)
        if row is None:
            view = self._problem.view(one.asked, self._names[at])
            row = self._rows[key] = self._fields[at].going(one, view, sure=self._sure)
        return row

    def _goes(self, chosen: Chosen, one: SolveCandidate) -> bool:
        """Whether nothing is against one that goes with each of those chosen, and with all of them."""
        extended = (*chosen, one)
        if pairs_show_all(extended, self._problem.matrix):
            return True
        return not any(clash.lasts and self._counts(clash) for clash in self._problem.clashes(extended))

    def _holds(self, chosen: Chosen) -> bool:
        """Whether nothing at all is against the whole set."""
        return not self._whole or not any(map(self._counts, self._problem.clashes(chosen)))

    def _counts(self, clash: Conflict) -> bool:
        return self._sure or clash.kind == BAD


def _key_of_joining(pair: tuple[Chosen, SolveCandidate]) -> Key:
    return pair[1].key
