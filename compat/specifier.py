"""PEP 440 specifiers on release versions, evaluated here; `packaging` takes the rest.

Importing `packaging` costs 25 ms, and the tables compare nothing but dotted numbers. Source: PEP 440, "Version
specifiers"; a test holds this file to what `packaging` answers.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

Release = tuple[int, ...]
Stage = tuple[int, int]
Key = tuple[Release, Stage]  # which has the order of releases
Test = Callable[[Key], "bool | None"]
_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc|post|dev)[._-]?(\d*))?", re.ASCII)
_STAGES = {"dev": -1, "a": 0, "b": 1, "rc": 2, "": 3, "post": 4}
_FINAL = (3, 0)
_FAMILY = 2  # numbers that a version behind "~=" has at least
_COMPARISONS: dict[str, Callable[[Key, Key], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


def accepts(specifier: str, version: object) -> bool:
    """Whether a specifier admits this version; pre-releases and local builds count as the release does."""
    key, tests = _key(str(version).partition("+")[0]), _tests(specifier)
    if key is not None and tests is not None:
        answer: bool | None = True
        for test in tests:
            answer = test(key)
            if not answer:
                break
        if answer is not None:
            return answer
    from packaging.specifiers import SpecifierSet  # late: 25 ms that most checks do not need

    return SpecifierSet(specifier).contains(str(version), prereleases=True)


def clauses(specifier: str) -> tuple[tuple[str, str], ...]:
    """Operator and version of each clause: ("==", "12.8.*"). Raises ValueError for what PEP 440 does not know."""
    told = tuple(_parts(clause.strip()) for clause in specifier.split(",") if clause.strip())
    if None not in told:
        return tuple(one for one in told if one)
    from packaging.specifiers import SpecifierSet  # late, as above

    return tuple((one.operator, one.version) for one in SpecifierSet(specifier))


def first_release(specifier: str) -> str:
    """The release that a specifier names first: 2.9.1 of "==2.9.1", 2.10 of "==2.10.*"."""
    return specifier.partition(",")[0].lstrip("=<>!~").removesuffix(".*")


def _parts(clause: str) -> tuple[str, str] | None:
    """The same of one clause whose version is plain dotted numbers, else None."""
    name = next((one for one in ("~=", *_COMPARISONS) if clause.startswith(one)), "")
    version = clause[len(name) :].strip()
    release = _release(version.removesuffix(".*") if name in {"==", "!="} else version)
    return (name, version) if name and release and not (name == "~=" and len(release) < _FAMILY) else None


@lru_cache(maxsize=8192)
def _tests(specifier: str) -> tuple[Test, ...] | None:
    """What its clauses ask of a release: read once, for one specifier is held against hundreds of versions."""
    tests = tuple(_test(clause.strip()) for clause in specifier.split(",") if clause.strip())
    told = tuple(test for test in tests if test)
    return told if len(told) == len(tests) and "+" not in specifier else None


def _test(clause: str) -> Test | None:
    if clause.startswith("~="):  # ~=2.1.3 is >=2.1.3, ==2.1.*
        wanted = clause[2:].strip()
        lowest, family = _test(f">={wanted}"), _test(f"=={wanted.rpartition('.')[0]}.*")
        if not lowest or not family or len(_release(wanted) or ()) < _FAMILY:
            return None
        return lambda key: lowest(key) and family(key)
    name = clause[:2] if clause[:2] in _COMPARISONS else clause[:1]
    wanted = clause[len(name) :].strip()
    if wanted.endswith(".*"):
        prefix = _release(wanted[:-2])
        if prefix is None or name not in {"==", "!="}:
            return None
        return lambda key: (_padded(key[0], len(prefix))[: len(prefix)] == prefix) is (name == "==")
    bound, compare = _key(wanted), _COMPARISONS.get(name)
    if bound is None and name in {"==", "!="}:  # what is no release is never the plain release
        return lambda key: None if key[1] != _FINAL else name == "!="
    if bound is None or compare is None:
        return None
    if name == ">" and bound[1] == _FINAL:  # >1.7 admits no 1.7.post1
        return lambda key: key > bound and not (key[0] == bound[0] and key[1] > _FINAL)
    if name == "<" and bound[1] == _FINAL:  # <1.7 admits no 1.7rc1
        return lambda key: key < bound and not (key[0] == bound[0] and key[1] < _FINAL)
    return lambda key: compare(key, bound)


@lru_cache(maxsize=8192)
def _key(text: str) -> Key | None:
    """A release without the zeros at its end, so that 1.2 is 1.2.0, and its stage; None for any other text."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    release = tuple(map(int, found[1].split(".")))
    while release and release[-1] == 0:
        release = release[:-1]
    return release, (_STAGES[found[2] or ""], int(found[3] or 0))


@lru_cache(maxsize=8192)
def _release(text: str) -> Release | None:
    parts = text.split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else None


def _padded(release: Release, width: int) -> Release:
    return release + (0,) * (width - len(release))


def keeps(specifier: str, version: str) -> bool:
    """Whether a version satisfies a specifier; a specifier or version in no valid form counts as kept."""
    if not version[:1].isdigit() or not any(map(str.isdigit, specifier)):
        return True
    try:
        return accepts(specifier, version)
    except ValueError:  # InvalidSpecifier and InvalidVersion, without importing `packaging` for their names
        return True


def marker_holds(marker: str, values: Mapping[str, str]) -> bool | None:
    """Return whether a marker of PEP 508 holds with these values; None for one that cannot be evaluated."""
    from packaging.markers import (  # late: a plain check meets few markers
        InvalidMarker,
        Marker,
        UndefinedComparison,
        UndefinedEnvironmentName,
    )

    try:
        return Marker(marker).evaluate({**values})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):  # of brackets in brackets
        return None
