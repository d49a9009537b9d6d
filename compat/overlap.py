"""Whether several PEP 440 specifiers on one distribution admit a common version.

A version that a specifier names was released, as far as anybody knows: if one of those satisfies all specifiers, they
agree. Between the named versions others may exist, and no table lists them; so where only such would do the answer is
"unknown", and "no" where not even such a version could exist. Evaluated with `accepts`, so as `packaging` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from compat.specifier import accepts

YES, NO, UNKNOWN = "yes", "no", "unknown"
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")
_EXACT = re.compile(r"==\d+(?:\.\d+)*")
_BELOW_ALL, _ABOVE_ALL = "0", "999999999"


def overlap(specifiers: Iterable[str]) -> str:
    """Whether all of these specifiers admit a common version: "yes", "no" or "unknown"; an empty one admits any."""
    return _overlap(frozenset(specifiers))


def inside(specifiers: Iterable[str], outer: str) -> str:
    """Whether what all of these admit lies in `outer`: "yes" all of it, "no" nothing of it, "unknown" some of it."""
    return _inside(frozenset(specifiers), outer)


@lru_cache(maxsize=65536)
def _inside(inner: frozenset[str], outer: str) -> str:
    found = {accepts(outer, version) for version in _possible(inner | {outer}) if _all_accept(inner, version)}
    return YES if found == {True} else UNKNOWN if True in found else NO


@lru_cache(maxsize=65536)
def _overlap(specifiers: frozenset[str]) -> str:
    if len(specifiers - {""}) < 2:
        return YES
    exact = next(filter(_EXACT.fullmatch, specifiers), None)
    if exact:
        return YES if _all_accept(specifiers, exact[2:]) else NO
    if any(_all_accept(specifiers, version) for version in (*_named(specifiers), _BELOW_ALL, _ABOVE_ALL)):
        return YES
    return UNKNOWN if any(_all_accept(specifiers, version) for version in _possible(specifiers)) else NO


def _all_accept(specifiers: frozenset[str], version: str) -> bool:
    return all(accepts(one, version) for one in specifiers)


def _named(specifiers: frozenset[str]) -> tuple[str, ...]:
    clauses = (clause.strip() for one in specifiers for clause in one.split(","))
    return tuple(sorted({clause.lstrip("=<>!~ ").removesuffix(".*") for clause in clauses if clause}))


def _possible(specifiers: frozenset[str]) -> tuple[str, ...]:
    """One version for every part into which the specifiers cut the line of versions.

    The cuts are the named versions and, for "==1.3.*" and "~=1.3.1", where the prefix ends; the parts are the cuts
    themselves and what lies just above each.
    """
    named = _named(specifiers)
    plain = [version for version in named if _NUMBERS.fullmatch(version)]
    cuts = {*plain, _BELOW_ALL, *(_after(version, kept) for version in plain for kept in range(version.count(".") + 1))}
    depth = max(version.count(".") for version in cuts)
    above = {f"{version}{'.0' * (depth - version.count('.'))}.0.1" for version in cuts}
    return tuple(sorted({*named, *cuts, *above, _ABOVE_ALL}))


def _after(version: str, kept: int) -> str:
    """Where the prefix of this version's first parts ends: "1.3.1" after two parts is "1.4"."""
    parts = [int(part) for part in version.split(".")[: kept + 1]]
    return ".".join(map(str, (*parts[:-1], parts[-1] + 1)))
