"""Names that a user may choose from: a wrong one is answered with the nearest right ones."""

from __future__ import annotations

from collections.abc import Collection

from compat.base.errors import GpudoctorError

_MOST_NAMED = 20  # more than this is no help: their number is


class NoSuchName(GpudoctorError):
    """The user named something that there is not. What is like it is looked for when somebody reads the message."""

    def __init__(self, kind: str, name: str, known: Collection[str]) -> None:
        super().__init__(kind, name)
        self.kind, self.name, self.known = kind, name, known

    @property
    def question(self) -> str:
        """Return "did you mean X?", "" if no known name is like it."""
        from difflib import get_close_matches  # late: only for mistakes

        spelled = {one.casefold(): one for one in self.known}
        near = [spelled[one] for one in get_close_matches(self.name.casefold(), spelled, n=3)]
        return f"did you mean {' or '.join(near)}?" if near else ""

    def __str__(self) -> str:
        return f"no {self.kind} {self.name!r}; {self.question or _list_of(self.known)}"


def _list_of(known: Collection[str]) -> str:
    if len(known) > _MOST_NAMED:
        return f"none of the {len(known)} known names is similar"
    return f"known are {', '.join(sorted(known))}"


def one_of(kind: str, name: str, known: Collection[str]) -> str:
    """Return the known name that was typed, whatever its case; raises NoSuchName."""
    if name in known:
        return name
    same = [one for one in known if one.casefold() == name.strip().casefold()]
    if len(same) != 1:
        raise NoSuchName(kind, name, known)
    return same[0]


def choose(kind: str, known: Collection[str], only: Collection[str], skip: Collection[str]) -> tuple[str, ...]:
    """The known names, restricted to `only` (if any) and without `skip`; raises NoSuchName."""
    wanted = {one_of(kind, name, known) for name in only} or set(known)
    return tuple(sorted(wanted - {one_of(kind, name, known) for name in skip}))
