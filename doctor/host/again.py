"""A part of a look that is taken again: what it would ask and be told the same is not worked out twice.

While a machine is judged as it would be (`doctor.host.overlay`), each part of the look writes down where it went, which
directories it listed, and which variables and values it read. It holds for another change of the same machine that
touches none of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)


class Asked:
    """What one part of a look asked of a machine."""

    __slots__ = ("listed", "places", "variables")

    def __init__(self) -> None:
        self.places: set[str] = set()  # every component of every path that was walked
        self.listed: set[str] = set()  # directories
        self.variables: set[str] = set()

    def add(self, other: Asked) -> None:
        """With all of another part."""
        self.places |= other.places
        self.listed |= other.listed
        self.variables |= other.variables


class Difference:
    """In what two states of one machine differ."""

    __slots__ = ("_places", "_variables", "_within")

    def __init__(self, one: State, other: State) -> None:
        self._places = _unlike(one.places, other.places)
        self._within = {path.rpartition("/")[0] or "/" for path in self._places}
        self._variables = _unlike(one.variables, other.variables)

    def touches(self, asked: Asked) -> bool:
        """Whether any of it was asked for."""
        return not (
            self._places.isdisjoint(asked.places)
            and self._within.isdisjoint(asked.listed)
            and self._variables.isdisjoint(asked.variables)
        )


class State:
    """What a change makes of a machine, by place and by variable."""

    __slots__ = ("places", "variables")

    def __init__(self, places: Mapping[str, object], variables: Mapping[str, object]) -> None:
        self.places, self.variables = places, variables


def _unlike(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    if one is other:
        return set()
    return {name for name in one.keys() | other.keys() if one.get(name, _NONE) != other.get(name, _NONE)}


_NONE = object()


class Variables(Mapping[str, str]):
    """Variables, whose readers are written down."""

    def __init__(self, said: Mapping[str, str], asked: Callable[[], Asked]) -> None:
        self._said, self._asked = said, asked

    def __getitem__(self, name: str) -> str:
        self._asked().variables.add(name)
        if name not in self._said:
            raise KeyError(name)
        return self._said[name]

    def __iter__(self) -> Iterator[str]:
        names = [name for name in self._said if name in self._said]
        self._asked().variables.add(ALL)
        return iter(names)

    def __len__(self) -> int:
        return sum(name in self._said for name in self._said)


ALL = "*"  # a variable of which every change is one: all names were read


class Watched:
    """A tuple of named values, of which it is written down which were read; `groups` are tuples of their own."""

    def __init__(
        self, of: object, read: Read, groups: frozenset[str] = frozenset(), path: tuple[str, ...] = ()
    ) -> None:
        self._of, self._read, self._groups, self._path = of, read, groups, path

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._of, name)
        if name in self._groups:
            value = Watched(value, self._read, path=(*self._path, name))
        else:
            self._read[(*self._path, name)] = value
        self.__dict__[name] = value  # to be written down once
        return value


Read = dict[tuple[str, ...], Any]  # by the names that lead to it: ("driver", "release")


def same(read: Read, of: Any) -> bool:
    """Whether all that was read of one tuple is so in another."""
    for path, known in read.items():
        now = of
        for name in path:
            now = getattr(now, name)
        if now is not known and now != known:
            return False
    return True


def alike(now: T, before: T, groups: frozenset[str] = frozenset()) -> T:
    """A tuple of named values, with the very values of another one where they are equal: `same` sees it at once."""
    kept: dict[str, Any] = {}
    for name, one, other in zip(now._fields, now, before, strict=True):
        if one is other:
            continue
        if name in groups:
            kept[name] = alike(one, other)
        elif one == other:
            kept[name] = other
    made: T = now._replace(**kept) if kept else now
    return made


class Earlier:
    """What came of a part of a look, and of what it depends."""

    __slots__ = ("answer", "asked", "given", "read", "state")

    def __init__(self, given: tuple[Any, ...], read: Read, state: State, asked: Asked, answer: Any) -> None:
        self.given, self.read, self.state, self.asked, self.answer = given, read, state, asked, answer
