"""PEP 440 specifiers on release versions, evaluated here; `packaging` takes the rest.

Importing `packaging` costs 25 ms, and the tables compare nothing but dotted numbers. Source: PEP 440, "Version
specifiers"; a test holds this file to what `packaging` answers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache

Release = tuple[int, ...]
_FAMILY = 2  # numbers that a version behind "~=" has at least
_COMPARISONS: dict[str, Callable[[Release, Release], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


def accepts(specifier: str, version: object) -> bool:
    """Whether a specifier admits this version; pre-releases and local builds count as the release does."""
    answer = _numeric(specifier, str(version).partition("+")[0])
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


def _parts(clause: str) -> tuple[str, str] | None:
    """The same of one clause whose version is plain dotted numbers, else None."""
    name = next((one for one in ("~=", *_COMPARISONS) if clause.startswith(one)), "")
    version = clause[len(name) :].strip()
    release = _release(version.removesuffix(".*") if name in {"==", "!="} else version)
    return (name, version) if name and release and not (name == "~=" and len(release) < _FAMILY) else None


@lru_cache(maxsize=65536)
def _numeric(specifier: str, version: str) -> bool | None:
    """The answer where version and clauses are plain dotted numbers, else None."""
    release = _release(version)
    if release is None or "+" in specifier:
        return None
    answers = [_clause(clause.strip(), release) for clause in specifier.split(",") if clause.strip()]
    return None if None in answers else all(answers)


def _clause(clause: str, release: Release) -> bool | None:
    if clause.startswith("~="):  # ~=2.1.3 is >=2.1.3, ==2.1.*
        wanted = clause[2:].strip()
        lowest, family = _clause(f">={wanted}", release), _clause(f"=={wanted.rpartition('.')[0]}.*", release)
        return None if None in {lowest, family} or "." not in wanted else bool(lowest and family)
    name = clause[:2] if clause[:2] in _COMPARISONS else clause[:1]
    wanted = clause[len(name) :].strip()
    if wanted.endswith(".*"):
        return _prefix(name, wanted[:-2], release)
    bound = _release(wanted)
    if bound is None and name in {"==", "!="}:
        return name == "!="  # a pre-release or post-release is never the plain release
    if bound is None or name not in _COMPARISONS:
        return None
    width = max(len(bound), len(release))
    return _COMPARISONS[name](_padded(release, width), _padded(bound, width))


def _prefix(name: str, wanted: str, release: Release) -> bool | None:
    prefix = _release(wanted)
    if prefix is None or name not in {"==", "!="}:
        return None
    return (_padded(release, len(prefix))[: len(prefix)] == prefix) is (name == "==")


@lru_cache(maxsize=8192)
def _release(text: str) -> Release | None:
    parts = text.split(".")
    return tuple(map(int, parts)) if all(part.isascii() and part.isdigit() for part in parts) else None


def _padded(release: Release, width: int) -> Release:
    return release + (0,) * (width - len(release))
