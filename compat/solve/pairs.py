"""What goes with what: two builds are compared once for all that look the same to each other.

What another package can hold against a build is its requirements, its Pythons, and little else: where its CUDA comes
from, which files it owns. Builds that agree in the latter are of one kind, so that of a hundred releases a few are
compared; requirements and Pythons are held against each other one by one, not build by build.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from compat.base.record import NamedTuple
from compat.build import is_default_build, release_key
from compat.matrix import Matrix
from compat.overlap import NO, inside, overlap
from compat.reason import BAD, OK, UNKNOWN
from compat.solve.candidates import SolveCandidate, pool
from compat.solve.conflicts import (
    Conflict,
    Side,
    besides_pins,
    clashes,
    fills_a_place,
    pinned_apart,
    pythons_of,
    same_python,
    side_of,
    unsaid,
    worst_between,
)
from compat.solve.cudnn import CUDNN_WHEELS
from compat.target import TargetMachine
from compat.traits import traits_of

Names = frozenset[str]  # distributions
Builds = tuple[SolveCandidate, ...]
Look = tuple[object, ...]  # what of a build is seen from another package


class _View(NamedTuple):
    """What of the builds of two packages can be against one another, besides pins and Pythons."""

    asked: Names  # distributions of which the very requirements view
    judged: tuple[tuple[str, str], ...]  # and those of which it views whether they lie within a specifier
    is_hosted: bool  # one may run on the CUDA of the other


class Pairs:
    """What is against two builds in one environment with these cards, each found once.

    Driver and Python are no part of it: problems that differ in nothing else share it.
    """

    def __init__(self, circumstances: TargetMachine, matrix: Matrix) -> None:
        self._circumstances = circumstances
        self._matrix = matrix
        self._found: dict[tuple[int, int], str] = {}  # by the kinds of the two, the smaller number first
        self._exactly: dict[tuple[int, int], str] = {}  # by the two builds' `wants`
        self._sides: dict[int, Side] = {}  # by the build's `wants`, which live as long as their side
        self._kinds: dict[Look, int] = {}
        self._kind_of: dict[tuple[int, int], int] = {}  # by the build's `wants` and the view
        self._pools: dict[
            tuple[int, bool, bool], tuple[Builds, CandidateSet]
        ] = {}  # with the builds, whose id is the key
        self._fields: dict[tuple[int, ...], CandidateSet] = {}
        self._views: dict[tuple[Names, Names], int] = {}
        self._seen: list[_View] = []

    def __len__(self) -> int:
        """How many have been looked at."""
        return len(self._found) + len(self._exactly)

    def field(self, found: Builds, *, sure: bool, own: bool) -> CandidateSet:
        """What may be chosen of the builds of a package, see `pool`; one object for the same builds."""
        key = (id(found), sure, own)
        if key not in self._pools:
            builds = pool(found, sure=sure, own=own)
            same = tuple(map(id, builds))
            if same not in self._fields:
                self._fields[same] = CandidateSet(builds, self)
            self._pools[key] = (found, self._fields[same])
        return self._pools[key][1]

    def view(self, one: Names, other: Names) -> int:
        """Two packages' view of each other, by its number: all that `worst` rests on of what their builds ask for."""
        key = (one, other)
        if key not in self._views:
            self._views[key] = self._views[other, one] = len(self._seen)
            self._seen.append(self._view(one, other))
        return self._views[key]

    def _view(self, one: Names, other: Names) -> _View:
        every, both = one | other, one & other
        known = [row.when for row in self._matrix.conflicts() if row.when.keys() <= every]
        cudnn = {name for name in every if name.startswith(CUDNN_WHEELS)}
        alone = [item for when in known for item in when.items() if item[0] not in both]
        return _View(
            asked=both & frozenset().union(*known) | (cudnn if self._circumstances.capabilities else frozenset()),
            judged=tuple(dict.fromkeys(alone)),
            is_hosted=any(traits_of(name).runs_on in every for name in every),
        )

    def kind(self, one: SolveCandidate, view: int) -> int:
        """A number that all builds share for which `worst` is the same with every build of another package."""
        key = (id(one.wants), view)
        found = self._kind_of.get(key)
        if found is None:
            self._side(one)  # which keeps `wants` alive
            found = self._kind_of[key] = self._kinds.setdefault(_look(one, view, self._seen[view]), len(self._kinds))
        return found

    def worst(self, one: SolveCandidate, other: SolveCandidate, view: int) -> str:
        """BAD, UNKNOWN or OK: what is against the two, whatever joins them, besides their pins and their Pythons.

        Of builds that are not held.
        """
        kinds = self.kind(one, view), self.kind(other, view)
        key = kinds if kinds[0] < kinds[1] else kinds[::-1]
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._besides(one, other)
        return found

    def worst_of_all(self, one: SolveCandidate, other: SolveCandidate) -> str:
        """The same of everything that is against the two."""
        key = (id(one.wants), id(other.wants))
        if key not in self._exactly:
            self._side(one), self._side(other)
            self._exactly[key] = _worst(self.clashes(one, other))
        return self._exactly[key]

    def _besides(self, one: SolveCandidate, other: SolveCandidate) -> str:
        sides = self._side(one), self._side(other)
        if not all(side.is_plain for side in sides):
            found = besides_pins((one, other), self._circumstances, self._matrix)
            return _worst(clash for clash in found if clash.lasts)
        worst = worst_between(*sides, self._circumstances, self._matrix)
        return UNKNOWN if worst == OK and any(unsaid(one, other)) else worst

    def clashes(self, one: SolveCandidate, other: SolveCandidate) -> Iterator[Conflict]:
        """Everything against the two whatever joins them, or the one that settles it."""
        apart = None if one.held and other.held else pinned_apart(one, other)
        if apart:
            yield apart
        else:
            found = clashes((one, other), self._circumstances, self._matrix)
            yield from (clash for clash in found if clash.lasts)

    def _side(self, one: SolveCandidate) -> Side:
        side = self._sides.get(id(one.wants))
        if side is None:
            side = self._sides[id(one.wants)] = side_of(one, self._matrix)
        return side


class CandidateSet:
    """The builds of one package that may be chosen, newest first; a set of them is an int, a bit for each."""

    def __init__(self, builds: Builds, pairs: Pairs) -> None:
        self.builds = builds
        self.all = (1 << len(self.builds)) - 1
        self._pairs = pairs
        self.releases = len({one.key for one in builds})
        self._is_held = any(one.held for one in self.builds)
        self._asking: dict[str, dict[str, int]] = {}  # distribution -> specifier -> the builds that ask for it so
        self._pythons: dict[frozenset[str] | None, int] = {}
        for number, one in enumerate(self.builds):
            for name, specifier in one.wants.items():
                _add(self._asking.setdefault(name, {}), specifier, number)
            _add(self._pythons, pythons_of(one), number)
        self._kinds: dict[int, dict[int, int]] = {}
        self._admitted: dict[tuple[str, str], int] = {}
        self._sharing: dict[tuple[frozenset[str] | None, bool], int] = {}  # a Python, by what another build says
        self._besides: dict[tuple[int, bool], int] = {}

    def of(self, mask: int) -> Iterator[SolveCandidate]:
        """These of them, newest first."""
        while mask:
            last = mask & -mask
            yield self.builds[last.bit_length() - 1]
            mask ^= last

    def going(self, one: SolveCandidate, view: int, *, sure: bool) -> int:
        """Those with which a build of another package goes; without `sure`, those that nothing is surely against."""
        if one.held or self._is_held:
            good = (OK,) if sure else (OK, UNKNOWN)
            return sum(1 << at for at, other in enumerate(self.builds) if self._pairs.worst_of_all(one, other) in good)
        kind = self._pairs.kind(one, view)
        if (kind, sure) not in self._besides:
            self._besides[kind, sure] = self._not_apart(one, view, sure=sure)
        found = self._besides[kind, sure] & self._with_python(pythons_of(one), sure=sure)
        for name in one.wants.keys() & self._asking.keys() if found else ():
            found &= self._admits((name, one.wants[name]))
        return found

    def _not_apart(self, one: SolveCandidate, view: int, *, sure: bool) -> int:
        """Those that nothing but pins and Pythons could be against."""
        if view not in self._kinds:
            kinds = self._kinds[view] = {}
            for number, other in enumerate(self.builds):
                _add(kinds, self._pairs.kind(other, view), number)
        good = (OK,) if sure else (OK, UNKNOWN)
        each = ((mask, next(self.of(mask))) for mask in self._kinds[view].values())
        return sum(mask for mask, first in each if self._pairs.worst(one, first, view) in good)

    def _admits(self, requirement: tuple[str, str]) -> int:
        """Those that do not ask for other releases than these of a distribution."""
        found = self._admitted.get(requirement)
        if found is None:
            name, specifier = requirement
            apart = _apart_from(specifier)
            masks = (mask for asked, mask in self._asking[name].items() if apart[asked])
            found = self._admitted[requirement] = self.all & ~sum(masks)
        return found

    def _with_python(self, pythons: frozenset[str] | None, *, sure: bool) -> int:
        if (pythons, sure) not in self._sharing:
            good = ("yes",) if sure else ("yes", "unknown")
            each = self._pythons.items()
            self._sharing[pythons, sure] = sum(mask for other, mask in each if same_python(pythons, other) in good)
        return self._sharing[pythons, sure]


class _Apart(dict[str, bool]):
    """Whether no version meets both, by the other specifier."""

    def __init__(self, specifier: str) -> None:
        super().__init__()
        self._specifier = specifier

    def __missing__(self, other: str) -> bool:
        self[other] = overlap((self._specifier, other)) == NO
        return self[other]


_apart_from = lru_cache(maxsize=4096)(_Apart)


def _add(masks: dict[Any, int], key: Any, number: int) -> None:
    masks[key] = masks.get(key, 0) | 1 << number


def names_of(builds: Iterable[SolveCandidate]) -> Names:
    """Everything that any of these builds asks for, themselves among it."""
    return frozenset().union(*(one.wants for one in builds))


def _worst(found: Iterable[Conflict]) -> str:
    against = {clash.kind for clash in found}
    return BAD if BAD in against else UNKNOWN if against else OK


def _look(one: SolveCandidate, number: int, view: _View) -> Look:
    row, wants = one.row, one.wants
    asked = tuple((name, wants[name]) for name in sorted(wants.keys() & view.asked))
    judged = tuple(inside((wants[name],), limit) if name in wants else None for name, limit in view.judged)
    places = frozenset(filter(fills_a_place, wants))
    exactly = view.is_hosted or row.libraries == "system" or not row.cuda
    cuda = (row.cuda, is_default_build(row)) if exactly else release_key(row.cuda or "")[:1]
    followed = row.versions if traits_of(row.package).same_minor else ""
    return (number, asked, judged, places, row.package, row.libraries, cuda, row.pins is None, followed)
