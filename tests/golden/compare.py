"""What differs between two sets of digests, as counts and as diffs."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.golden.store import Digest, Texts

Digests = Mapping[str, Digest]
_DIFFED = 400  # changed outputs at most of which a diff is computed: similar ones are counted together
_LINE = 160  # characters of a line in a diff
_KINDS = 15  # kinds of outputs of an area (the formats of a report), each with a count of its own
_CONTEXT = 2  # unchanged lines around a change


class Change(NamedTuple):
    """An output that is not as it was."""

    area: str
    name: str
    before: Digest | None  # None: a new output
    after: Digest | None  # None: an output that no job makes any more


def changes(area: str, before: Digests, after: Digests) -> list[Change]:
    """Return the changes of an area, by id."""
    return [
        Change(area, name, before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def counts(found: Iterable[Change]) -> Iterator[str]:
    """Yield a line for each area, then for each kind of its outputs where these are few."""
    of_area: dict[str, dict[str, Counter[str]]] = {}
    for one in found:
        what = "new" if one.before is None else "gone" if one.after is None else "changed"
        of_area.setdefault(one.area, {}).setdefault(one.name.rpartition("/")[2], Counter())[what] += 1
    for area, kinds in sorted(of_area.items()):
        yield f"{area}: {_told(sum(kinds.values(), Counter()))}"
        if len(kinds) <= _KINDS:
            yield from (f"  {kind}: {_told(numbers)}" for kind, numbers in sorted(kinds.items()))


def _told(numbers: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in sorted(numbers.items()))


class Shown(NamedTuple):
    """Changes that consist of the same lines."""

    names: list[str]
    diff: list[str]


def diffs(found: Iterable[Change], texts: Texts, lines: int) -> Iterator[Shown]:
    """Yield each different diff once, cut to so many lines, with the outputs that it is of; the most frequent first."""
    alike: dict[tuple[str, ...], Shown] = {}
    for one in itertools.islice((one for one in found if one.before and one.after), _DIFFED):
        diff = _diff(one, texts.get)
        moved = tuple(line for line in diff[2:] if line[0] in "+-")
        alike.setdefault(moved, Shown([], diff)).names.append(f"{one.area}: {one.name}")
    for shown in sorted(alike.values(), key=lambda shown: -len(shown.names)):
        left = [f"... {len(shown.diff) - lines} more lines"] if len(shown.diff) > lines else []
        yield shown._replace(diff=[*(line[:_LINE] for line in shown.diff[:lines]), *left])


def _diff(one: Change, text_of: Callable[[Digest], str | None]) -> list[str]:
    before, after = (text_of(digest) if digest else None for digest in (one.before, one.after))
    if before is None or after is None:
        return ["", "", "- the text of before is not in the cache: --base REV makes it"]
    pair = before.splitlines(), after.splitlines()
    return list(difflib.unified_diff(*pair, "before", "after", n=_CONTEXT, lineterm=""))
