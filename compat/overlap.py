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
_PREFIX = re.compile(r"(?:[=!]=\s*(\d+(?:\.\d+)*)\.\*|~=\s*(\d+(?:\.\d+)*)\.\d+)$")
_BELOW_ALL, _ABOVE_ALL = "0", "999999999"


def overlap(specifiers: Iterable[str]) -> str:
    """Whether all of these specifiers admit a common version: "yes", "no" or "unknown"; an empty one admits any."""
    return _overlap(frozenset(specifiers))


def inside(specifiers: Iterable[str], outer: str) -> str:
    """Whether what all of these admit is in `outer`: "yes" all of it, "no" nothing of it, "unknown" some of it."""
    return _inside(frozenset(specifiers), outer)


@lru_cache(maxsize=65536)
def _inside(inner: frozenset[str], outer: str) -> str:
    found: set[bool] = set()
    for version in _possible(inner | {outer}):
        if _all_accept(inner, version):
            found.add(accepts(outer, version))
        if len(found) == 2:
            return UNKNOWN
    return YES if True in found else NO


@lru_cache(maxsize=65536)
def _overlap(specifiers: frozenset[str]) -> str:
    if len(specifiers - {""}) < 2:
        return YES
    for one in specifiers:
        if one.startswith("==") and _EXACT.fullmatch(one):
            return YES if _all_accept(specifiers - {one}, one[2:]) else NO
    if any(_all_accept(specifiers, version) for version in (*_named(specifiers), _BELOW_ALL, _ABOVE_ALL)):
        return YES
    return UNKNOWN if any(_all_accept(specifiers, version) for version in _possible(specifiers)) else NO


def _all_accept(specifiers: frozenset[str], version: str) -> bool:
    return all(accepts(one, version) for one in specifiers)


def _named(specifiers: frozenset[str]) -> set[str]:
    clauses = (clause.strip() for one in specifiers for clause in one.split(","))
    return {clause.lstrip("=<>!~ ").removesuffix(".*") for clause in clauses if clause}


def _possible(specifiers: frozenset[str]) -> set[str]:
    """One version for every part into which the specifiers cut the line of versions.

    The cuts are the named versions and, for "==1.3.*" and "~=1.3.1", where the prefix ends; the parts are the cuts
    themselves and what lies just above each.
    """
    # What versions begin with that "==1.3.*" and "~=1.3.1" speak of.
    found = (_PREFIX.match(clause.strip()) for one in specifiers for clause in one.split(","))
    named, ends = _named(specifiers), map(_after, [told[1] or told[2] for told in found if told])
    cuts = {_BELOW_ALL, *(told[0] for told in map(_NUMBERS.match, named) if told), *ends}
    depth = max(version.count(".") for version in cuts)
    above = {f"{version}{'.0' * (depth - version.count('.'))}.0.1" for version in cuts}
    return {*named, *cuts, *above, _ABOVE_ALL}


def _after(prefix: str) -> str:
    """Where it ends: "1.3" at "1.4"."""
    parts = [int(part) for part in prefix.split(".")]
    return ".".join(map(str, (*parts[:-1], parts[-1] + 1)))
